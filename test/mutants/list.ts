// Small breaks of what rollcall exists for, and each of them would be met by a user. Every text stands in its file once.

export type Mutant = {
  readonly name: string
  readonly file: string
  readonly find: string
  readonly replace: string
}

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'plan-shared-user',
    file: 'src/sync/plan.ts',
    find: `if (rivals.length > 0) return { kind: 'reject', code: 'shared-user-id', keys: rivals }`,
    replace: `if (rivals.length > 1) return { kind: 'reject', code: 'shared-user-id', keys: rivals }`,
  },
  {
    name: 'plan-no-lookup-when-unknown',
    file: 'src/sync/plan.ts',
    find: `  const { user } = mapped
  if (memory.remote === 'unknown') return { kind: 'lookup', why: 'unknown' }
`,
    replace: `  const { user } = mapped
`,
  },
  {
    name: 'plan-create-without-access-unasked',
    file: 'src/sync/plan.ts',
    find: `if (memory.remote === 'unasked' && user.status === 0)`,
    replace: `if (memory.remote === 'unknown' && user.status === 0)`,
  },
  {
    name: 'plan-removal-unasked',
    file: 'src/sync/plan.ts',
    find: `if (memory.remote === 'unasked') return { kind: 'lookup', why: 'unasked' }`,
    replace: `if (memory.remote === 'unasked') return { kind: 'none', why: 'never-ours' }`,
  },
  {
    name: 'plan-removal-of-shared-user',
    file: 'src/sync/plan.ts',
    find: `  if (rivals.length > 0) return { kind: 'none', why: 'user-of-another-customer' }
`,
    replace: ``,
  },
  {
    name: 'plan-access-by-what-was-sent',
    file: 'src/sync/plan.ts',
    find: `return (seenStatus ?? sentStatus) !== 0`,
    replace: `return sentStatus !== 0`,
  },
  {
    name: 'plan-trial-granted-again',
    file: 'src/sync/plan.ts',
    find: `carried && memory.seenStatus === 0 ? 0 : user.status`,
    replace: `user.status`,
  },
  {
    name: 'plan-ignored-removal-revokes',
    file: 'src/sync/plan.ts',
    find: `  if (policy.onRemove === 'ignore') return { kind: 'none', why: 'ignored' }
`,
    replace: ``,
  },
  {
    name: 'right-what-was-seen',
    file: 'src/sync/right.ts',
    find: `return seen === undefined || seen === digests.normal(field, value)`,
    replace: `return true`,
  },
  {
    name: 'right-ended-trial',
    file: 'src/sync/right.ts',
    find: `seenStatus === status || (status === 4 && sentStatus === 4 && seenStatus === 0)`,
    replace: `seenStatus === status`,
  },
  {
    name: 'right-refusals-stand-for-ever',
    file: 'src/sync/right.ts',
    find: `return new Set(stand ? fields : [])`,
    replace: `return new Set(fields)`,
  },
  {
    name: 'write-patch-without-null',
    file: 'src/sync/write.ts',
    find: `body[field] = user.fields[field] ?? empty`,
    replace: `if (user.fields[field]) body[field] = user.fields[field] ?? empty`,
  },
  {
    name: 'classify-503-refused',
    file: 'src/sync/classify.ts',
    find: `414, 422, 429, 431])`,
    replace: `414, 422, 429, 431, 503])`,
  },
  {
    name: 'classify-408-refused',
    file: 'src/sync/classify.ts',
    find: `[400, 401, 403,`,
    replace: `[400, 401, 403, 408,`,
  },
  {
    name: 'classify-null-done',
    file: 'src/sync/classify.ts',
    find: `if (body === 'null' || body === 'other') return 'unclear'`,
    replace: `if (body === 'other') return 'unclear'`,
  },
  {
    name: 'unclear-done-without-a-look',
    file: 'src/sync/absorb.ts',
    find: `if (!turn.memory.looked || !isStatusShown(plan, turn.memory))`,
    replace: `if (!isStatusShown(plan, turn.memory))`,
  },
  {
    name: 'unclear-revoked-without-a-look',
    file: 'src/sync/absorb.ts',
    find: `return plan.carried || plan.body.status === (seenStatus ?? sentStatus)`,
    replace: `return plan.carried || plan.body.status !== (seenStatus ?? sentStatus) || true`,
  },
  {
    name: 'unclear-country-sent-once',
    file: 'src/sync/absorb.ts',
    find: `const again = !turn.unclear && fieldsOf`,
    replace: `const again = turn.unclear && fieldsOf`,
  },
  {
    name: 'unclear-waits-for-the-lifetime',
    file: 'src/sync/finish.ts',
    find: `lateMs: unclear ? consistencyDelayMs : timeNeededMs(config) + consistencyDelayMs,`,
    replace: `lateMs: timeNeededMs(config) + consistencyDelayMs,`,
  },
  {
    name: 'inherit-doubted-status',
    file: 'src/sync/inherit.ts',
    find: `sentStatus: from.doubted ? null : record.sentStatus,`,
    replace: `sentStatus: record.sentStatus,`,
  },
  {
    name: 'classify-create-404-absent',
    file: 'src/sync/classify.ts',
    find: `if (method !== 'POST' && (status`,
    replace: `if ((status`,
  },
  {
    name: 'classify-other-user-present',
    file: 'src/sync/classify.ts',
    find: `if (body === 'user') return 'present'`,
    replace: `if (body === 'user' || body === 'other') return 'present'`,
  },
  {
    name: 'classify-unreadable-done',
    file: 'src/sync/classify.ts',
    find: `return body === 'unreadable' || body === 'error' ? 'unknown' : 'done'`,
    replace: `return body === 'error' ? 'unknown' : 'done'`,
  },
  {
    name: 'claim-twice',
    file: 'src/ledger/claim.ts',
    find: `AND o.call_token IS NULL AND o.due_at > now()`,
    replace: `AND o.due_at > now()`,
  },
  {
    name: 'claim-any-token',
    file: 'src/ledger/claim.ts',
    find: `o.id = asked.id AND o.token = asked.token AND`,
    replace: `o.id = asked.id AND`,
  },
  {
    name: 'claim-before-not-before',
    file: 'src/ledger/claim.ts',
    find: `  AND (o.not_before IS NULL OR o.not_before <= now())
`,
    replace: ``,
  },
  {
    name: 'claim-other-target',
    file: 'src/ledger/claim.ts',
    find: `AND \${isBoundBy('$4')} AND \${CURRENT`,
    replace: `AND $4::text IS NOT NULL AND \${CURRENT`,
  },
  {
    name: 'claim-other-mapping',
    file: 'src/ledger/claim.ts',
    find: ` AND \${CURRENT_FINGERPRINT} = $5
`,
    replace: ` AND $5::text IS NOT NULL
`,
  },
  {
    name: 'lease-forgets-open-call',
    file: 'src/ledger/lease.ts',
    find: `unknown = o.unknown OR o.call_token IS NOT NULL,`,
    replace: `unknown = o.unknown,`,
  },
  {
    name: 'lease-forgets-hidden',
    file: 'src/ledger/lease.ts',
    find: `blind = o.blind OR o.call_token IS NOT NULL,`,
    replace: `blind = o.blind,`,
  },
  {
    name: 'ending-any-token',
    file: 'src/ledger/ending.ts',
    find: `AND o.id = e.id AND o.token = e.token AND o.call_token = e.token`,
    replace: `AND o.id = e.id`,
  },
  {
    name: 'ending-sure-without-answer',
    file: 'src/ledger/ending.ts',
    find: `WHEN 'settle' THEN o.suspect_version > e.version OR (o.unknown AND NOT e.sure)`,
    replace: `WHEN 'settle' THEN o.suspect_version > e.version`,
  },
  {
    name: 'ending-loses-newer-change',
    file: 'src/ledger/ending.ts',
    find: `    WHEN o.change_version > e.version THEN now() + t.gap
`,
    replace: ``,
  },
  {
    name: 'ending-late-not-suspect',
    file: 'src/ledger/ending.ts',
    find: `ending.wrote && stored.get(ending) === false`,
    replace: `!ending.wrote && stored.get(ending) === false`,
  },
  {
    name: 'ending-unknown-at-once',
    file: 'src/ledger/ending.ts',
    find: `WHEN 'unknown' THEN t.shown ELSE o.not_before END`,
    replace: `WHEN 'unknown' THEN o.not_before ELSE o.not_before END`,
  },
  {
    name: 'ending-unclear-unverified',
    file: 'src/ledger/ending.ts',
    find: `WHEN t.believed THEN coalesce(o.check_at, now() + \${VERIFY_FIRST}) ELSE o.check_at END`,
    replace: `ELSE o.check_at END`,
  },
  {
    name: 'ending-unclear-verified-for-ever',
    file: 'src/ledger/ending.ts',
    find: ` AND (b.suspect_version < e.version OR b.synced_version < e.version - 1) AS believed`,
    replace: ` AS believed`,
  },
  {
    name: 'ending-forgets-acknowledged',
    file: 'src/ledger/ending.ts',
    find: `DO UPDATE SET \${RECORD_COLUMNS.excluded},`,
    replace: `DO UPDATE SET \${RECORD_COLUMNS.excluded.replace('sent = excluded.sent', 'sent = l.sent')},`,
  },
  {
    name: 'outbox-not-deleted-with-note',
    file: 'src/capture/outbox.ts',
    find: `  if (changes.length > 0) await note(client, changes)
  await client.query('COMMIT')`,
    replace: `  await client.query('COMMIT')
  if (changes.length > 0) await note(client, changes)`,
  },
  {
    name: 'outbox-least-urgent-lane',
    file: 'src/capture/outbox.ts',
    find: `  min(lane) AS lane, (extract`,
    replace: `  max(lane) AS lane, (extract`,
  },
  {
    name: 'note-keeps-version',
    file: 'src/ledger/note.ts',
    find: `FROM unnest($1::text[], $2::smallint[], $3::timestamptz[]) AS c (key, lane, at)
ORDER BY c.key COLLATE "C"
ON CONFLICT (key) DO UPDATE SET
  change_version = o.change_version + 1,`,
    replace: `FROM unnest($1::text[], $2::smallint[], $3::timestamptz[]) AS c (key, lane, at)
ORDER BY c.key COLLATE "C"
ON CONFLICT (key) DO UPDATE SET
  change_version = o.change_version,`,
  },
  {
    name: 'note-due-while-token-out',
    file: 'src/ledger/note.ts',
    find: `  due_at = CASE WHEN \${UNDER_WAY} THEN o.due_at ELSE least(o.due_at, greatest(now(), o.not_before)) END,
  changed_at = least(o.changed_at, excluded.changed_at)\``,
    replace: `  due_at = least(o.due_at, greatest(now(), o.not_before)),
  changed_at = least(o.changed_at, excluded.changed_at)\``,
  },
  {
    name: 'brake-one-more',
    file: 'src/brake/decide.ts',
    find: `counted >= limit`,
    replace: `counted > limit`,
  },
  {
    name: 'brake-never-stays-tripped',
    file: 'src/brake/decide.ts',
    find: `if (tripped || exceeded) return false`,
    replace: `if (exceeded) return false`,
  },
  {
    name: 'brake-truncate-ignored',
    file: 'src/brake/decide.ts',
    find: `      truncated &&
`,
    replace: `      !truncated &&
`,
  },
  {
    name: 'brake-release-of-something-else',
    file: 'src/brake/rows.ts',
    find: `desired === request.desired ? kinds : []`,
    replace: `desired !== undefined ? kinds : []`,
  },
  {
    name: 'brake-absence-uncounted',
    file: 'src/sync/braked.ts',
    find: `return before.wasThere ? ['create', 'absence'] : ['create']`,
    replace: `return ['create']`,
  },
  {
    name: 'brake-loss-uncounted',
    file: 'src/sync/braked.ts',
    find: `if (takesAccess(plan, memory)) return ['revocation']`,
    replace: `if (takesAccess(plan, memory)) return ['status']`,
  },
  {
    name: 'map-out-of-scope-synced',
    file: 'src/sync/map.ts',
    find: `  if (!scope.value) return { kind: 'out-of-scope', userId, ...holding(scope.untilMs) }
`,
    replace: ``,
  },
  {
    name: 'map-strict-ignored',
    file: 'src/sync/map.ts',
    find: `if (config.strict && issues.length > 0)`,
    replace: `if (config.strict && issues.length > 20)`,
  },
  {
    name: 'map-several-rows',
    file: 'src/sync/map.ts',
    find: `if (found !== 'ambiguous') return mapCustomer(config, { key, row: found, now })
`,
    replace: `if (found !== 'ambiguous') return mapCustomer(config, { key, row: found, now })
  if (found === 'ambiguous') return mapCustomer(config, { key, row: null, now })
`,
  },
  {
    name: 'map-never-again',
    file: 'src/sync/map.ts',
    find: `const holds = holding(Math.min(scope.untilMs, status.untilMs, untilMs))`,
    replace: `const holds = holding(Math.min(scope.untilMs, untilMs))`,
  },
  {
    name: 'map-phone-left',
    file: 'src/sync/map.ts',
    find: `  delete fields.mobile_phone
`,
    replace: ``,
  },
  {
    name: 'read-policy-afterwards',
    file: 'src/customers/read.ts',
    find: `if (rows.length === 0 && config.customers.rowSecurity === 'apply') await requireSomebody(session, shape)`,
    replace: `if (rows.length < 0) await requireSomebody(session, shape)`,
  },
  {
    name: 'erasure-disproved-is-done',
    file: 'src/sync/remember.ts',
    find: `if (fieldsShown(shown).some((field) => sent[field] === DOUBTED)) return`,
    replace: `if (fieldsShown(shown).length < 0) return`,
  },
  {
    name: 'ending-ends-any-finding',
    file: 'src/ledger/ending.ts',
    find: `ELSE found.fields <@ e.carried END`,
    replace: `ELSE true END`,
  },
  {
    name: 'ending-leaves-findings',
    file: 'src/ledger/ending.ts',
    find: `END AS settled`,
    replace: `END AND false AS settled`,
  },
  {
    name: 'ending-asks-no-look-at-the-rest',
    file: 'src/ledger/ending.ts',
    find: `coalesce(f.next_look_at, now() + e."lateMs" * interval '1 ms')`,
    replace: `f.next_look_at`,
  },
  {
    name: 'vanished-counts-as-agreeing',
    file: 'src/drift/compare.ts',
    find: `? 'gone' : 'known'`,
    replace: `? 'known' : 'known'`,
  },
  {
    name: 'doubted-run-concludes',
    file: 'src/drift/run.ts',
    find: `if (!(await readDoubt(pool))) return null`,
    replace: `if (await readDoubt(pool)) return null`,
  },
  {
    name: 'check-of-the-unknown',
    file: 'src/ledger/check.ts',
    find: `AND o.due_at IS NULL AND NOT o.unknown AND (o.replan_at`,
    replace: `AND o.due_at IS NULL AND (o.replan_at`,
  },
  {
    name: 'check-any-token',
    file: 'src/ledger/check.ts',
    find: `WHERE o.token = e.token AND o.call_token = e.token AND NOT`,
    replace: `WHERE NOT`,
  },
  {
    name: 'note-leaves-checks',
    file: 'src/ledger/taken.ts',
    find: `token = CASE WHEN o.due_at IS NOT NULL THEN o.token END,`,
    replace: `token = o.token,`,
  },
  {
    name: 'repair-of-newcomers',
    file: 'src/drift/verify.ts',
    find: `if (!work.known || !repairable ||`,
    replace: `if (!repairable ||`,
  },
  {
    name: 'sample-of-before',
    file: 'src/drift/evidence.ts',
    find: `f.last_seen < \${SAMPLED_AT} OR`,
    replace: `f.last_seen IS NOT NULL AND \${SAMPLED_AT} IS NOT NULL OR`,
  },
  {
    name: 'rival-look-postpones',
    file: 'src/drift/findings.ts',
    find: `case 'moved':
      return NOTHING`,
    replace: `case 'moved':
      return { do: 'postpone' }`,
  },
]
