// Of how many customers a report can tell whether they agree, who is held, and why nothing is known of the others.
import { silentOf } from '../drift/tally.ts'
import type { DriftTally, Skipped } from '../drift/words.ts'
import { agreementOf, leftOpen, notNow } from './conclude.ts'
import { counted, figure, percent } from './figures.ts'
import type { Report } from './report.ts'

/** `3 of 1,953 customers checked (0.15 %) do not agree`, with whom the brake holds among them. */
export function sayDisagree(counts: DriftTally): { readonly found: string; readonly held: string } {
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
export function sayAgreed(report: Report): string {
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
export function sayOthers(report: Report): string[] {
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
export function sayUnchecked(report: Report): string {
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
