import type { NoteChanges } from '../capture/source.ts'
import type { Config } from '../config/config.ts'
import { note, recordNewcomers } from '../ledger/note.ts'
import { userIdFor } from '../sync/map.ts'

/**
 * Notes changes, and records whoever is noted for the first time under its `user_id`. A customer whose key changes
 * while its `user_id` stays is two customers for a moment: whoever is asked to revoke the one who is gone must see the
 * one who has come.
 */
export function makeNoting(config: Config): NoteChanges {
  return async (client, changes) => {
    await note(client, changes)
    const known = changes.map(({ key }) => ({ key, userId: userIdFor(config, key) }))
    await recordNewcomers(client, known)
  }
}
