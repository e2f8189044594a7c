// What a report says as a whole, in sentences of plain text: for the terminal and for the page alike.
import { silentOf } from '../drift/tally.ts'
import { type Doubt, type DriftTally, type Skipped, type Stopped, WRONG_ACCESS } from '../drift/words.ts'
import { agreementOf, type Conclusion, conclude, leftOpen, notNow, resolvedOf } from './conclude.ts'
import { counted, figure, percent } from './figures.ts'
import type { Estimate, Report } from './report.ts'
import { ACCESS, RESOLUTION, sayAmongHeld } from './words.ts'

type Tone = 'good' | 'bad' | 'unsure'

type Headline = { readonly tone: Tone; readonly text: string; readonly more: readonly string[] }

const TONES: Readonly<Record<Conclusion, Tone>> = {
  agrees: 'good',
  tolerated: 'good',
  drift: 'bad',
  incomplete: 'unsure',
  unchecked: 'unsure',
  'not-credible': 'bad',
}

export function sayHeadline(report: Report): Headline {
  const conclusion = conclude(report)
  const access = conclusion === 'not-credible' ? [] : sayAccess(report)
  const told = sayConclusion(conclusion, report)
  const said = access.length === 0 ? told : `${access.join(' ')} ${capital(told)}`
  // First of all: whatever follows is about those alone whom it had come to.
  const stopped = report.outcome.kind === 'stopped' ? 'Stopped before the end: ' : ''
  const text = `${stopped}${said}`
  return { tone: TONES[conclusion], text, more: sayMore(report) }
}

function capital(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1)
}

/** One sentence at most. How many differ says little beside somebody who cannot reach a lawyer. */
function sayAccess({ counts: { access, heldAccess } }: Report): string[] {
  const [one, ...others] = WRONG_ACCESS.flatMap((which) => {
    const count = access[which] ?? 0
    const means = ACCESS[which].means + sayAmongHeld(heldAccess[which] ?? 0, count)
    return count === 0 ? [] : [{ count, means }]
  })
  if (one === undefined) return []
  const rest = others.map(({ count, means }) => `, ${figure(count)} ${means}`)
  return [`${counted(one.count, 'customer')} ${one.means}${rest.join('')}.`]
}

function sayConclusion(conclusion: Conclusion, report: Report): string {
  const { counts, options, outcome } = report
  const { found, held } = sayDisagree(counts)
  const limit = percent(options.maxDrift ?? 0)
  switch (conclusion) {
    case 'agrees':
      return `Everybody who was checked agrees with the service: ${sayAgreed(report)}.`
    case 'tolerated':
      return `${found} with the service${held}: within the limit of ${limit}.`
    case 'drift':
      return options.maxDrift === null
        ? `${found} with the service${held}.`
        : `${found} with the service${held}: above the limit of ${limit}.`
    case 'incomplete':
      return counts.checked === 0 ? 'nobody was checked.' : `${found} so far.`
    case 'unchecked':
      return sayUnchecked(report)
    case 'not-credible':
      return outcome.kind === 'not-credible' ? DOUBT[outcome.why] : ''
    default:
      return conclusion satisfies never
  }
}

const DOUBT: Readonly<Record<Doubt, string>> = {
  'nobody-there': 'The service does not know many of the users who were there before.',
  'no-answers': 'The service gave no clear answer about most of the customers.',
  denied: 'The service refuses the keys.',
}

const DOUBTED: Readonly<Record<Doubt, string>> = {
  'nobody-there':
    'That is far likelier a wrong address, other keys or an emptied environment than drift. Nothing is concluded about ' +
    'single customers, and nothing was repaired. Check the address and the keys, and ask the operator of the ' +
    'service.',
  'no-answers':
    'Whether the customers agree is not known; no answer is not drift. Look again when the service answers; whether ' +
    'calls are stopped for everybody until then, rollcall pace tells.',
  denied:
    'Whether the customers agree is not known. Check the keys, and look again; whether calls with them are stopped ' +
    'meanwhile, rollcall pace tells.',
}

const STOP: Readonly<Record<Stopped, string>> = {
  asked: 'It was stopped by hand or by a signal.',
  pace: 'Calls are stopped for everybody: the service is in trouble, or has asked for patience. See rollcall pace.',
}

function sayMore(report: Report): string[] {
  const { outcome, estimate, repair, suspected, foundLater, counts, options } = report
  const said: string[] = []
  if (outcome.kind === 'not-credible' && options.from === 'service') said.push(sayEvidence(counts))
  if (outcome.kind === 'not-credible') said.push(DOUBTED[outcome.why])
  if (outcome.kind === 'stopped') {
    said.push(STOP[outcome.why])
    if (outcome.resume !== null) said.push(`It goes on with: ${outcome.resume}`)
  }
  if (outcome.kind !== 'not-credible') said.push(...sayResolved(report), ...sayOthers(report))
  if (estimate !== null && outcome.kind !== 'not-credible') said.push(sayEstimate(estimate, report))
  const ended = counts.kinds['trial-ended'] ?? 0
  if (ended > 0 && outcome.kind !== 'not-credible')
    said.push(`${counted(ended, 'trial is over', 'trials are over')} at the service, which is no drift.`)
  if (counts.hidden > 0 && outcome.kind !== 'not-credible')
    said.push(
      `${counted(counts.hidden, 'customer')} of those who agree would be sent country_code, which no GET shows.`,
    )
  if (suspected > 0 && outcome.kind !== 'not-credible')
    said.push(`${counted(suspected, 'more customer')} differed at a look that nothing has confirmed yet.`)
  if (foundLater !== null && foundLater > 0)
    said.push(
      `Workers have found ${counted(foundLater, 'more customer')} to differ after this had looked at them; they are not counted here.`,
    )
  return repair === null ? said : [...said, ...sayRepair(repair)]
}

/** Found is found: who was put right while it went on is counted too, and this says so. */
function sayResolved(report: Report): string[] {
  const how = Object.entries(resolvedOf(report)) as [keyof typeof RESOLUTION, number][]
  const all = how.reduce((sum, [, count]) => sum + count, 0)
  if (all === 0) return []
  const each = how.map(([word, count]) => `${RESOLUTION[word]}: ${figure(count)}`)
  return [
    `Of what was found, ${figure(all)} ${all === 1 ? 'is' : 'are'} resolved by now (${each.join('; ')}).`,
  ]
}

/** What the service said, so that the reader can judge it. */
function sayEvidence(counts: Report['counts']): string {
  const { checked, kinds } = counts
  const { unreadable = 0 } = kinds
  const unclear = silentOf(counts) + unreadable
  const unknown = figure(kinds.missing ?? 0)
  return `Of ${counted(checked + silentOf(counts), 'answer')}, ${figure(unclear)} were not clear, and ${unknown} said that there is no such user.`
}

function sayRepair({ owed, held }: NonNullable<Report['repair']>): string[] {
  const repairs = owed === 0 ? 'No repair is owed.' : `${counted(owed, 'repair is', 'repairs are')} owed.`
  if (held === 0) return [repairs]
  return [
    repairs,
    `${figure(held)} more ${held === 1 ? 'waits' : 'wait'} for a person, because so much at once is seldom the customers: ` +
      'look at the service, then see rollcall held.',
  ]
}

/**
 * Of how many there is anything to say is known only where all were drawn; from a sample of them it is an estimate too,
 * and to be told as one.
 */
export function sayEstimate(
  { population, checked, share, low, high }: Estimate,
  of: Pick<Report, 'population' | 'chosen'>,
): string {
  if (checked === 0)
    return `A sample of ${figure(population)}, of whom nobody could be checked, says nothing.`
  const people = (part: number) => figure(Math.round(part * population))
  const about = population !== of.population && of.chosen < of.population ? 'about ' : ''
  const all = about === '' ? 'all' : 'all of whom something can be said, about'
  return (
    `Estimated for ${all} ${counted(population, 'customer')}: ${percent(share)} drift; the 95 % interval goes from ` +
    `${percent(low)} to ${percent(high)}, which is ${about}${people(low)} to ${people(high)} customers.`
  )
}

/** `3 of 1,953 customers checked (0.15 %) do not agree`, with whom the brake holds among them. */
function sayDisagree(counts: DriftTally): { readonly found: string; readonly held: string } {
  const { known, disagree, held } = agreementOf(counts)
  const share = percent(known === 0 ? 0 : disagree / known)
  const who = held === 0 ? 'checked' : 'checked or held'
  const agree = disagree === 1 ? 'does not agree' : 'do not agree'
  return {
    found: `${figure(disagree)} of ${counted(known, 'customer')} ${who} (${share}) ${agree}`,
    held: sayHeldAmong({ disagree, held }),
  }
}

function sayHeldAmong({ disagree, held }: { readonly disagree: number; readonly held: number }): string {
  if (held === 0) return ''
  if (held < disagree) return `; ${figure(held)} of them ${held === 1 ? 'is' : 'are'} held by the brake`
  return held === 1 ? '; the brake holds that one' : '; the brake holds them all'
}

/** Of how many everybody was checked: all are said to agree only where all were looked at. */
function sayAgreed(report: Report): string {
  const { checked } = report.counts
  const others = othersOf(report)
  return others === 0
    ? counted(checked, 'customer')
    : `${figure(checked)} of ${counted(checked + others, 'customer')}`
}

/** Whoever has no user of ours is none of them: there is nothing to compare. */
function othersOf(report: Report): number {
  return leftOpen(report) + (report.counts.skipped.discarded ?? 0) + notLookedAt(report)
}

/** Rounds come to everybody by and by; a run has looked at all whom it has chosen. */
function notLookedAt({ options, chosen, counts, suspected }: Report): number {
  return options.from === 'ledger' ? Math.max(0, chosen - counts.checked - suspected) : 0
}

const WHY: Readonly<Record<Exclude<Skipped, 'held' | 'not-ours'>, string>> = {
  owed: 'owed a sync',
  'just-settled': 'written a moment ago',
  moved: 'changed, or looked at by another process, meanwhile',
  rejected: 'rejected',
  discarded: 'with a difference that a person has accepted',
  'unreadable-row': 'with a row that cannot be read',
}

/** Who is held, and of whom nothing is known and why: what a count of those who agree leaves out. */
function sayOthers(report: Report): string[] {
  const { skipped } = report.counts
  const { held } = agreementOf(report.counts)
  const whys = (Object.keys(WHY) as (keyof typeof WHY)[]).map((why) => [skipped[why] ?? 0, WHY[why]] as const)
  const parts = [
    ...whys,
    [silentOf(report.counts), 'without a clear answer'] as const,
    [notLookedAt(report), 'not looked at lately'] as const,
  ].filter(([count]) => count > 0)
  const count = parts.reduce((sum, [many]) => sum + many, 0)
  const why = parts.map(([many, text]) => (parts.length === 1 ? text : `${figure(many)} ${text}`)).join(', ')
  return [
    ...(held === 0 ? [] : [sayHeld(held)]),
    ...(count === 0
      ? []
      : [`${counted(count, 'customer')} ${count === 1 ? 'was' : 'were'} not compared: ${why}.`]),
  ]
}

function sayHeld(held: number): string {
  return (
    `${counted(held, 'customer is', 'customers are')} held by the brake until a person decides: what the database ` +
    'wants for them is not at the service. See rollcall held.'
  )
}

/** Why there is nothing to conclude though all went well. */
function sayUnchecked(report: Report): string {
  const { counts, chosen, options, suspected } = report
  if (chosen === 0 && options.where !== null)
    return 'There is no customer to check: nobody meets the condition.'
  if (chosen === 0) return 'There is no customer to check.'
  const { known } = agreementOf(counts)
  if (known === 0) return 'Nothing can be said: nobody could be checked.'
  const open = leftOpen(report)
  if (open <= known)
    return `Whether everybody agrees is not known: ${counted(known, 'customer')} checked, and of ${figure(suspected)} more it is open.`
  const worker = notNow(counts) * 2 > open ? ' Does a worker run?' : ''
  return `Too little can be said: ${counted(known, 'customer')} checked, and ${figure(open)} could not be.${worker}`
}
