import type { LedgerRecord, Reason, RemoteState } from '../ledger/record.ts'
import type { FieldIssue } from '../model/mapped.ts'
import { sameField, seenForm } from '../model/normal.ts'
import { type DesiredUser, OPTIONAL_FIELDS, type OptionalField, UNVERIFIABLE_FIELD } from '../model/user.ts'
import type { RemoteUser } from '../service/body.ts'
import { type CustomerDigests, NO_VALUE } from './digest.ts'

type FieldDigests = Readonly<Partial<Record<OptionalField, string>>>

/** What is remembered of the remote user while a claim runs; it starts as the ledger's record. */
export type Memory = {
  readonly remote: RemoteState
  /** The status that was last acknowledged, and the one that the last GET showed since. */
  readonly sentStatus: number | null
  readonly seenStatus: number | null
  readonly sent: FieldDigests
  readonly seen: FieldDigests
  readonly refused: FieldDigests
  /** Fields that the mapping does not set and that the last GET of this claim showed with a value. */
  readonly strays: readonly OptionalField[]
  /** A GET of this claim has shown the user. */
  readonly looked: boolean
  /** The digests were made with another key: what a GET cannot show is believed rather than sent again. */
  readonly rekeyed: boolean
}

type Start = {
  readonly record: LedgerRecord
  readonly unknown: boolean
  readonly blind: boolean
  readonly digestKey: string
}

/**
 * `owed.unknown` decides over the record, which is the last sure knowledge. Digests of another key or normal
 * form cannot be compared: they are dropped and refreshed by a GET, not by a write.
 */
export function startMemory({ record, unknown, blind, digestKey }: Start): Memory {
  const rekeyed = record.digestKey !== null && record.digestKey !== digestKey
  const { [UNVERIFIABLE_FIELD]: _hidden, ...visible } = record.sent as FieldDigests
  return {
    remote: unknown || (rekeyed && record.remote === 'present') ? 'unknown' : record.remote,
    sentStatus: record.sentStatus,
    seenStatus: record.seenStatus,
    sent: rekeyed ? {} : blind ? visible : record.sent,
    seen: rekeyed ? {} : record.seen,
    refused: rekeyed ? {} : record.refused,
    strays: [],
    looked: false,
    rekeyed: rekeyed && !blind,
  }
}

/** A GET said that there is no such user, or an update was answered with "not there". */
export function rememberAbsent(memory: Memory): Memory {
  return { ...memory, remote: 'absent', sentStatus: null, seenStatus: null, sent: {}, seen: {}, strays: [] }
}

/**
 * A GET's result replaces what is remembered. An acknowledged digest survives only where the GET agrees with
 * it, so that a later change of spelling alone is still sent, and an edit at the service is seen.
 */
export function rememberSeen(
  memory: Memory,
  remote: RemoteUser,
  desired: DesiredUser | null,
  digests: CustomerDigests,
): Memory {
  const seen: Partial<Record<OptionalField, string>> = {}
  const sent: Partial<Record<OptionalField, string>> = {}
  const strays: OptionalField[] = []
  for (const field of OPTIONAL_FIELDS) {
    const acknowledged = memory.sent[field]
    if (field === UNVERIFIABLE_FIELD) {
      if (acknowledged !== undefined) sent[field] = acknowledged
      else if (memory.rekeyed && desired?.fields[field] !== undefined)
        sent[field] = digests.exact(field, desired.fields[field])
      continue
    }
    const fields = desired?.fields ?? {}
    seen[field] = digests.ofForm(field, seenForm(field, fields, remote.fields))
    const wanted = fields[field]
    if (wanted === undefined) {
      if (seen[field] !== NO_VALUE) strays.push(field)
    } else if (sameField(field, fields, remote.fields) && acknowledged === digests.exact(field, wanted)) {
      sent[field] = acknowledged
    }
  }
  return { ...memory, remote: 'present', seenStatus: remote.status, seen, sent, strays, looked: true }
}

type Acknowledged = {
  readonly desired: DesiredUser | null
  readonly verb: 'create' | 'replace' | 'patch' | 'revoke'
  readonly fields: readonly OptionalField[]
  readonly status: number
  /** The status was the one that the service showed, not one of ours. */
  readonly carried: boolean
}

/** The service acknowledged a write: what it carried is now what is known, in place of what was seen. */
export function rememberSent(memory: Memory, write: Acknowledged, digests: CustomerDigests): Memory {
  const { desired, verb } = write
  const whole = verb === 'create' || verb === 'replace'
  const sent: Partial<Record<OptionalField, string>> = whole ? {} : { ...memory.sent }
  const seen: Partial<Record<OptionalField, string>> = whole ? {} : { ...memory.seen }
  const refused = { ...memory.refused }
  for (const field of write.fields) {
    const value = desired?.fields[field]
    if (value === undefined) continue
    sent[field] = digests.exact(field, value)
    delete seen[field]
    delete refused[field]
  }
  const status = write.carried ? {} : { sentStatus: write.status, seenStatus: null }
  return { ...memory, ...status, remote: 'present', sent, seen, refused, strays: whole ? [] : memory.strays }
}

type Kept = Pick<LedgerRecord, 'userId' | 'state' | 'issues'> & { readonly reason: Reason | null }

/** The record to store at the end of a claim. */
export function toRecord(memory: Memory, digestKey: string, kept: Kept): LedgerRecord {
  const { remote, sentStatus, seenStatus, sent, seen, refused } = memory
  return { ...kept, remote, sentStatus, seenStatus, sent, seen, refused, digestKey }
}

/** Field issues to record: what the mapping left out, and what the service refused. */
export function issuesOf(mapped: readonly FieldIssue[], memory: Memory): FieldIssue[] {
  const refusedFields = OPTIONAL_FIELDS.filter((field) => memory.refused[field] !== undefined)
  return [
    ...mapped,
    ...refusedFields.map((field) => ({
      field,
      code: 'refused' as const,
      expected: 'a value that the service takes',
    })),
  ]
}
