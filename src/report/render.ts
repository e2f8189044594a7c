// The conclusion of a report in sentences of plain text: for the terminal and for the page alike.
import { totalOf } from '../drift/tally.ts'
import { type NotCredible, REPAIRABLE_KINDS, SKIPPED, type Stopped } from '../drift/words.ts'
import {
  agreementOf,
  type Conclusion,
  conclude,
  leftOpen,
  mostFirst,
  notNow,
  resolvedOf,
  wrongAccess,
} from './conclude.ts'
import { counted, figure, percent } from './figures.ts'
import type { Estimate, Report } from './report.ts'
import { MANY_MISSING, NO_ANSWER, RESOLUTION, renderAmongHeld, SKIP } from './words.ts'

const TONES: Readonly<Record<Conclusion, 'good' | 'bad' | 'unsure'>> = {
  agrees: 'good',
  tolerated: 'good',
  drift: 'bad',
  incomplete: 'unsure',
  unchecked: 'unsure',
  'not-credible': 'bad',
}

export function renderHeadline(report: Report) {
  const conclusion = conclude(report)
  const access = conclusion === 'not-credible' ? '' : renderAccess(report)
  // First of all: the figures are about the customers that it has reached.
  const stopped = report.outcome.kind === 'stopped' ? 'Stopped before the end. ' : ''
  const text = `${stopped}${access}${renderConclusion(conclusion, report)}`
  return { tone: TONES[conclusion], text, more: renderMore(report) }
}

/** One sentence at most. How many differ says little beside a customer who cannot reach a lawyer. */
function renderAccess({ counts }: Report): string {
  const parts = wrongAccess(counts).map(
    ({ many, means }, n) =>
      `${n === 0 ? counted(many, 'customer') : figure(many)} ${many === 1 ? 'is' : 'are'} ${means}`,
  )
  return parts.length === 0 ? '' : `${parts.join(', ')}. `
}

function renderConclusion(conclusion: Conclusion, report: Report): string {
  const { counts, options, outcome } = report
  const { known, disagree, held } = agreementOf(counts)
  const checked = `${counted(counts.checked, 'customer was', 'customers were')} checked`
  const limit = options.maxDrift === null ? '' : ` the limit of ${percent(options.maxDrift)}`
  const found =
    `${figure(disagree)} of ${counted(known, held === 0 ? 'checked customer' : 'checked or held customer')} ` +
    `(${percent(known === 0 ? 0 : disagree / known)}) ${disagree === 1 ? 'does' : 'do'} not agree with the service`
  const all = `${found}${renderAmongHeld(held + heldFound(report), disagree)}`
  const said: Readonly<Record<Conclusion, () => string>> = {
    agrees: () => `No drift: ${checked}.`,
    tolerated: () => `${all}: within${limit}.`,
    drift: () => (limit === '' ? `${all}.` : `${all}: above${limit}.`),
    incomplete: () => {
      if (counts.checked === 0) return 'No customer was checked.'
      return disagree === 0 ? `No drift so far: ${checked}.` : `${found} so far.`
    },
    unchecked: () => renderUnchecked(report),
    'not-credible': () => (outcome.kind === 'not-credible' ? CREDIBILITY[outcome.why].said : ''),
  }
  return said[conclusion]()
}

const CREDIBILITY: Readonly<Record<NotCredible, { readonly said: string; readonly advice: string }>> = {
  'many-missing': {
    said: 'Many users that existed before are now missing at the service.',
    advice: `Usually the cause is a wrong SERVICE_URL, wrong API keys or an emptied service. This command requested no repair. ${MANY_MISSING}.`,
  },
  'no-answers': {
    said: 'The service gave no usable answer to most checks.',
    advice:
      'Without usable answers rollcall cannot tell whether there is drift. Run the command again when the service answers. ' +
      '`rollcall pace` shows whether calls are stopped.',
  },
  denied: {
    said: 'The service refuses the keys.',
    advice:
      'So the drift is not known. Correct the keys, and run the command again. `rollcall pace` shows whether calls are ' +
      'stopped.',
  },
}

const STOP: Readonly<Record<Stopped, string>> = {
  asked: 'A person or a signal stopped the run.',
  pace: 'Calls are stopped: the service fails, or has sent a Retry-After. See `rollcall pace`.',
}

function renderMore(report: Report): string[] {
  const { outcome, estimate, repair, suspected, foundLater, counts, options, findings } = report
  const isHeld = agreementOf(counts).held + heldFound(report) > 0
  const holds = isHeld
    ? ['`rollcall held` lists changes that the brake holds, with the command that sends or discards them.']
    : []
  if (outcome.kind === 'not-credible') {
    const evidence = options.from === 'service' ? [renderEvidence(counts)] : []
    return [...evidence, CREDIBILITY[outcome.why].advice, ...holds]
  }
  const ended = counts.kinds['trial-ended'] ?? 0
  const stopped = outcome.kind === 'stopped' ? outcome : null
  const lines: readonly (string | false | null | undefined)[] = [
    stopped && STOP[stopped.why],
    stopped?.why === 'asked' && counts.checked === 0 && '`rollcall pace` shows whether calls are stopped.',
    stopped?.resume && `To continue, run: ${stopped.resume}`,
    renderResolved(report),
    ...holds,
    renderNotCompared(report),
    estimate && renderEstimate(estimate, report),
    ended > 0 &&
      `Checks found ${counted(ended, 'ended trial')}, which ${ended === 1 ? 'does' : 'do'} not count as drift.`,
    counts.unverifiable > 0 &&
      `For ${counted(counts.unverifiable, 'customer')} a sync would send only country_code, which no GET shows.`,
    suspected > 0 &&
      `${counted(suspected, 'customer')} differed at the first check. A second check has to confirm this.`,
    foundLater !== null &&
      foundLater > 0 &&
      `Workers found differences for ${counted(foundLater, 'more customer')} after this run had checked them. The report does not count these.`,
    repair
      ? `${repair.owed === 0 ? 'No new repair was' : counted(repair.owed, 'repair was', 'repairs were')} requested.`
      : !stopped &&
        findings.some(isRepairable) &&
        'To request a sync for each customer that differs, run `rollcall drift --repair`.',
    repair &&
      repair.held > 0 &&
      `The brake holds ${counted(repair.held, repair.owed > 0 ? 'other repair' : 'repair')}. Check SERVICE_URL, then decide: see \`rollcall held\`.`,
  ]
  return lines.flatMap((line) => line || [])
}

/** A customer that was put right while it went on was found all the same. */
function renderResolved(report: Report): string | null {
  const how = mostFirst(resolvedOf(report))
  const all = how.reduce((sum, [, count]) => sum + count, 0)
  const each = how
    .map(([word, count]) => `${RESOLUTION[word]}${how.length > 1 ? `: ${figure(count)}` : ''}`)
    .join('; ')
  return all === 0 ? null : `${counted(all, 'finding is', 'findings are')} resolved by now (${each}).`
}

function isRepairable({ kind, held, resolvedHow }: Report['findings'][number]): boolean {
  return !held && resolvedHow === null && REPAIRABLE_KINDS.some((each) => each === kind)
}

/** Customers that differ and that the brake holds by now. */
function heldFound({ findings }: Pick<Report, 'findings'>): number {
  return findings.filter(({ held, kind }) => held && kind !== 'trial-ended').length
}

/** The answers of the service, so that the reader can judge it. */
function renderEvidence(counts: Report['counts']): string {
  const { missing = 0, unreadable = 0 } = counts.kinds
  const parts = [
    [missing, 'the service knows no such user'] as const,
    [unreadable, 'a 2xx that does not show this user'] as const,
    ...mostFirst(counts.noAnswer).map(([why, many]) => [many, NO_ANSWER[why]] as const),
    [counts.checked - missing - unreadable, 'other clear answers'] as const,
  ].filter(([many]) => many > 0)
  const checks = counted(counts.checked + totalOf(counts.noAnswer), 'check')
  if (parts.length === 0) return 'No customer was checked.'
  return `${checks}: ${parts.map(([many, text]) => `${figure(many)} × ${text}`).join('; ')}.`
}

/** The number of customers that can be judged is known only where all were drawn; a sample estimates it too. */
export function renderEstimate(estimate: Estimate, of: Pick<Report, 'population' | 'chosen'>): string {
  const { population, checked, share, low, high } = estimate
  if (checked === 0)
    return `No customer of the sample could be checked, so the sample says nothing about all ${figure(population)} customers.`
  const people = (part: number) => figure(Math.round(part * population))
  const about = population !== of.population && of.chosen < of.population ? 'about ' : ''
  const customers = counted(population, 'customer')
  const differ = `an estimated ${percent(share)} of`
  const said =
    population === of.population
      ? `By this sample, ${differ} all ${customers} differ`
      : `Of all ${counted(of.population, 'customer')}, ${about}${figure(population)} can be compared. By this sample, ${differ} these differ`
  return (
    `${said}. The 95 % ` +
    `interval goes from ${percent(low)} to ${percent(high)}: ${about}${people(low)} to ${people(high)} customers.`
  )
}

/** Workers come to all customers by and by; a run has checked all that it has chosen. */
export function notReached({ options, chosen, counts, suspected }: Report): number {
  return options.from === 'ledger' ? Math.max(0, chosen - counts.checked - suspected) : 0
}

/** The checks that the count of agreeing customers leaves out, and why. */
function renderNotCompared(report: Report): string | null {
  const { counts } = report
  const skipped = SKIPPED.filter((why) => why !== 'held' && why !== 'not-ours')
  const parts = [
    ...skipped.map((why) => [counts.skipped[why] ?? 0, SKIP[why]] as const),
    [totalOf(counts.noAnswer), 'without a clear answer'] as const,
    [notReached(report), 'not checked lately (`rollcall drift` checks them)'] as const,
  ].filter(([count]) => count > 0)
  const all = parts.reduce((sum, [count]) => sum + count, 0)
  const [only] = parts.length === 1 ? parts : []
  const why = only ? only[1] : parts.map(([count, text]) => `${figure(count)} ${text}`).join('; ')
  return all === 0 ? null : `${counted(all, 'customer')} ${all === 1 ? 'was' : 'were'} not compared: ${why}.`
}

/** Why there is nothing to conclude though all went well. */
function renderUnchecked(report: Report): string {
  const { counts, chosen, options, suspected } = report
  if (chosen === 0)
    return `There is no customer to check${options.where === null ? '' : ': no customer fits --where'}.`
  const { known } = agreementOf(counts)
  if (known === 0) return 'The drift is not known: no customer could be checked.'
  const checked = `${counted(known, 'customer')} checked`
  const open = leftOpen(report)
  if (open <= known)
    return `The drift is not known yet: ${checked}, and ${figure(suspected)} more need a second check.`
  const worker =
    notNow(counts) * 2 > open
      ? ' Check that a worker runs: it syncs owed customers, which can be checked then.'
      : ''
  return `Too few customers were checked: only ${figure(known)}.${worker}`
}
