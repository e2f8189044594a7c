// Small breaks of what rollcall exists for, and each of them would be met by a user. Every text stands in its file once.

export type Mutant = {
  readonly name: string
  readonly file: string
  readonly find: string
  readonly replace: string
}

type Break = readonly [name: string, find: string, replace: string]

const BREAKS: Readonly<Record<string, readonly Break[]>> = {
  'src/sync/plan.ts': [
    [
      'plan-shared-user',
      `if (claimants.length > 0) return { kind: 'reject', code: 'shared-user-id', keys: claimants }`,
      `if (claimants.length > 1) return { kind: 'reject', code: 'shared-user-id', keys: claimants }`,
    ],
    [
      'plan-no-lookup-when-unknown',
      `  const { user } = mapped
  if (memory.remote === 'unknown') return { kind: 'lookup', why: 'unknown' }
`,
      `  const { user } = mapped
`,
    ],
    [
      'plan-create-without-access-unasked',
      `if (memory.remote === 'unasked' && user.status === 0)`,
      `if (memory.remote === 'unknown' && user.status === 0)`,
    ],
    [
      'plan-removal-unasked',
      `if (memory.remote === 'unasked') return { kind: 'lookup', why: 'unasked' }`,
      `if (memory.remote === 'unasked') return { kind: 'none', why: 'never-ours' }`,
    ],
    [
      'plan-removal-of-shared-user',
      `  if (claimants.length > 0) return { kind: 'none', why: 'user-of-another-customer' }
`,
      '',
    ],
    ['plan-access-by-what-was-sent', 'return (seenStatus ?? sentStatus) !== 0', 'return sentStatus !== 0'],
    ['plan-trial-granted-again', 'keepsStatus && memory.seenStatus === 0 ? 0 : user.status', 'user.status'],
    [
      'plan-ignored-removal-revokes',
      `  if (policy.onRemove === 'ignore') return { kind: 'none', why: 'ignored' }
`,
      '',
    ],
  ],
  'src/sync/memory.ts': [
    [
      'right-what-was-seen',
      'return seen === undefined || seen === digests.normal(field, value)',
      'return true',
    ],
    [
      'right-ended-trial',
      'seenStatus === status || (status === 4 && sentStatus === 4 && seenStatus === 0)',
      'seenStatus === status',
    ],
  ],
  'src/sync/conflict.ts': [
    ['right-refusals-stand-for-ever', 'return new Set(stand ? fields : [])', 'return new Set(fields)'],
  ],
  'src/sync/write.ts': [
    [
      'write-patch-without-null',
      'body[field] = user.fields[field] ?? empty',
      'if (user.fields[field]) body[field] = user.fields[field] ?? empty',
    ],
  ],
  'src/sync/classify.ts': [
    ['classify-503-refused', '414, 422, 429, 431])', '414, 422, 429, 431, 503])'],
    ['classify-408-refused', '[400, 401, 403,', '[400, 401, 403, 408,'],
    [
      'classify-null-done',
      `if (body === 'null' || body === 'other') return 'unclear'`,
      `if (body === 'other') return 'unclear'`,
    ],
    ['classify-create-404-absent', `if (method !== 'POST' && (status`, 'if ((status'],
    [
      'classify-other-user-present',
      `if (body === 'user') return 'present'`,
      `if (body === 'user' || body === 'other') return 'present'`,
    ],
    [
      'classify-unreadable-done',
      `return body === 'unreadable' || body === 'error' ? 'unknown' : 'done'`,
      `return body === 'error' ? 'unknown' : 'done'`,
    ],
  ],
  'src/sync/refusal.ts': [
    [
      'unclear-done-without-a-look',
      'if (!before.lookedUp || !isStatusShown(plan, before))',
      'if (!isStatusShown(plan, before))',
    ],
    [
      'unclear-revoked-without-a-look',
      'return plan.keepsStatus || plan.body.status === (seenStatus ?? sentStatus)',
      'return plan.keepsStatus || plan.body.status !== (seenStatus ?? sentStatus) || true',
    ],
    ['unclear-country-sent-once', 'if (again || !fieldsOf(plan)', 'if (!again || !fieldsOf(plan)'],
  ],
  'src/sync/effects.ts': [
    [
      'unclear-waits-for-the-lifetime',
      'lateMs: requestIsOver ? consistencyDelayMs : timeNeededMs(config) + consistencyDelayMs,',
      'lateMs: timeNeededMs(config) + consistencyDelayMs,',
    ],
  ],
  'src/sync/sharing.ts': [
    [
      'inherit-unknown-status',
      'sentStatus: from.statusUnknown ? null : record.sentStatus,',
      'sentStatus: record.sentStatus,',
    ],
  ],
  'src/ledger/claim.ts': [
    ['claim-twice', 'locked.call_token IS NULL AND locked.due_at > now()', 'locked.due_at > now()'],
    ['claim-any-token', 'JOIN locked USING (id, token)', 'JOIN locked USING (id)'],
    ['claim-before-not-before', '\n  AND (locked.not_before IS NULL OR locked.not_before <= now())', ''],
    [
      'claim-other-target',
      `\${isCurrent({ binding: '$4', fingerprint: '$5' })}`,
      '$4::text IS NOT NULL AND (SELECT fingerprint FROM rollcall.generation ORDER BY id DESC LIMIT 1) = $5',
    ],
    [
      'claim-other-mapping',
      `\${isCurrent({ binding: '$4', fingerprint: '$5' })}`,
      'EXISTS (SELECT FROM rollcall.target WHERE xmin::text = $4) AND $5::text IS NOT NULL',
    ],
  ],
  'src/ledger/lookups.ts': [
    ['lease-forgets-open-call', 'unknown = o.unknown OR o.call_token IS NOT NULL,', 'unknown = o.unknown,'],
    [
      'lease-forgets-hidden',
      'hidden_unknown = o.hidden_unknown OR o.call_token IS NOT NULL,',
      'hidden_unknown = o.hidden_unknown,',
    ],
    [
      'ending-sure-without-answer',
      `WHEN 'settle' THEN suspected OR (o.unknown AND NOT known)`,
      `WHEN 'settle' THEN suspected`,
    ],
    [
      'ending-unclear-unverified',
      `WHEN taken_for_yes THEN coalesce(o.verify_at, now() + \${VERIFY_FIRST}) ELSE o.verify_at END`,
      'ELSE o.verify_at END',
    ],
    [
      'ending-unclear-verified-for-ever',
      ' AND (locked.suspect_version < e.version OR locked.synced_version < e.version - 1\n    OR NOT EXISTS (SELECT FROM rollcall.ledger l WHERE l.key = locked.key AND l.state <> \'failing\'\n      AND l.desired IS NOT DISTINCT FROM e."desiredDigest")) AS taken_for_yes',
      ' AS taken_for_yes',
    ],
  ],
  'src/ledger/ending.ts': [
    [
      'ending-any-token',
      'ON locked.id = e.id AND locked.token = e.token AND locked.call_token = e.token',
      'ON locked.id = e.id',
    ],
    [
      'ending-loses-newer-change',
      `    WHEN risen THEN now() + pause
`,
      '',
    ],
    [
      'ending-late-not-suspect',
      `ending.writes !== 'none' && stored.get(ending) === false`,
      `ending.writes === 'none' && stored.get(ending) === false`,
    ],
    [
      'ending-unknown-at-once',
      `WHEN 'unknown' THEN shown_at ELSE o.not_before END`,
      `WHEN 'unknown' THEN o.not_before ELSE o.not_before END`,
    ],
    [
      'ending-forgets-acknowledged',
      `column} = excluded.\${column}`,
      `column} = \${column === 'sent' ? 'l' : 'excluded'}.\${column}`,
    ],
  ],
  'src/ledger/consequences.ts': [
    ['ending-ends-any-finding', 'ELSE found.fields <@ e.acknowledged END', 'ELSE true END'],
    ['ending-leaves-findings', 'END AS settled', 'END AND false AS settled'],
    [
      'ending-asks-no-look-at-the-rest',
      `coalesce(f.next_check_at, now() + e."lateMs" * interval '1 ms')`,
      'f.next_check_at',
    ],
  ],
  'src/capture/outbox.ts': [
    [
      'outbox-not-deleted-with-note',
      'await note(client, changes)',
      `await client.query('COMMIT').then(() => note(client, changes))`,
    ],
    ['outbox-least-urgent-lane', '  min(lane) AS lane, ', '  max(lane) AS lane, '],
  ],
  'src/ledger/note.ts': [
    [
      'note-keeps-version',
      'OWE = `change_version = o.change_version + 1,',
      'OWE = `change_version = o.change_version,',
    ],
    ['note-leaves-checks', 'token = CASE WHEN o.due_at IS NOT NULL THEN o.token END,', 'token = o.token,'],
    [
      'note-due-while-token-out',
      `due_at = CASE WHEN \${UNDER_WAY} THEN o.due_at ELSE`,
      'due_at = CASE WHEN false THEN o.due_at ELSE',
    ],
  ],
  'src/brake/decide.ts': [
    ['brake-one-more', 'counted >= limit', 'counted > limit'],
    ['brake-never-stays-tripped', 'if (tripped || exceeded) return false', 'if (exceeded) return false'],
    ['brake-truncate-ignored', 'const emptied = truncated &&', 'const emptied = !truncated &&'],
  ],
  'src/brake/reserve.ts': [
    [
      'brake-release-of-something-else',
      'digest === request.desiredDigest ? kinds : []',
      'digest !== undefined ? kinds : []',
    ],
  ],
  'src/sync/brake-kinds.ts': [
    [
      'brake-absence-uncounted',
      `return before.existed ? ['create', 'absence', ...lossIn(plan, before)] : ['create']`,
      `return ['create']`,
    ],
    [
      'brake-loss-uncounted',
      `if (takesAccess(plan, memory)) return ['revocation']`,
      `if (takesAccess(plan, memory)) return ['status']`,
    ],
  ],
  'src/sync/map.ts': [
    [
      'map-out-of-scope-synced',
      `  if (!scope.value) return { kind: 'out-of-scope', userId, ...validUntil(scope.untilMs) }
`,
      '',
    ],
    [
      'map-strict-ignored',
      'if (config.strict && issues.length > 0)',
      'if (config.strict && issues.length > 20)',
    ],
    [
      'map-several-rows',
      `if (found !== 'ambiguous') return mapCustomer(config, { key, row: found, now })
`,
      `if (found !== 'ambiguous') return mapCustomer(config, { key, row: found, now })
  if (found === 'ambiguous') return mapCustomer(config, { key, row: null, now })
`,
    ],
    [
      'map-never-again',
      'const holds = validUntil(Math.min(scope.untilMs, status.untilMs, untilMs))',
      'const holds = validUntil(Math.min(scope.untilMs, untilMs))',
    ],
    [
      'map-phone-left',
      `  delete fields.mobile_phone
`,
      '',
    ],
  ],
  'src/customers/read.ts': [
    [
      'read-policy-afterwards',
      `if (rows.length === 0 && config.customers.rowSecurity === 'apply') await requireRows(session, shape)`,
      'if (rows.length < 0) await requireRows(session, shape)',
    ],
  ],
  'src/sync/erasure.ts': [
    [
      'erasure-disproved-is-done',
      'if (left.some((field) => sent[field] === UNKNOWN_VALUE)) return',
      'if (left.length < 0) return',
    ],
  ],
  'src/drift/compare.ts': [['vanished-counts-as-agreeing', `? 'gone' : 'known'`, `? 'known' : 'known'`]],
  'src/drift/runs.ts': [
    [
      'not-credible-run-concludes',
      'if (!(await readNotCredible(pool))) return null',
      'if (await readNotCredible(pool)) return null',
    ],
  ],
  'src/ledger/check.ts': [
    [
      'check-of-the-unknown',
      'AND o.due_at IS NULL AND NOT o.unknown AND (o.replan_at',
      'AND o.due_at IS NULL AND (o.replan_at',
    ],
    ['check-any-token', 'WHERE o.token = e.token AND o.call_token = e.token AND NOT', 'WHERE NOT'],
  ],
  'src/drift/checking.ts': [
    ['repair-lost-to-an-error', 'const repairsLater = config', 'const repairsLater = !repair && config'],
  ],
  'src/drift/after-step.ts': [['repair-of-new', 'options.known && REPAIRABLE_KINDS', 'REPAIRABLE_KINDS']],
  'src/drift/repair.ts': [
    ['hold-what-is-over', ' AND f.resolved_at IS NULL RETURNING f.id', ' RETURNING f.id'],
  ],
  'src/sync/discard.ts': [
    ['discard-forgotten-when-stopped', 'desired: customer.desiredDigest }', 'desired: null }'],
    ['discard-ended-by-404', `return remote === 'present' && made`, 'return made'],
  ],
  'src/drift/open-findings.ts': [
    [
      'sample-of-before',
      `f.last_seen < \${SAMPLED_AT} OR`,
      `f.last_seen IS NOT NULL AND \${SAMPLED_AT} IS NOT NULL OR`,
    ],
  ],
  'src/drift/step.ts': [['concurrent-check-postpones', `changed: 'nothing',`, `changed: 'postpone',`]],
}

export const MUTANTS: readonly Mutant[] = Object.entries(BREAKS).flatMap(([file, breaks]) =>
  breaks.map(([name, find, replace]) => ({ name, file, find, replace })),
)
