// Arguments and results of the two clients of the service; users.ts and chat-client.ts make them.
import type { Fields, Status } from '../model/user.ts'

/** Body of POST: null fields are left out by the caller. */
export type CreateBody = { readonly user_id: string; readonly status: Status } & Readonly<Fields>
/** Body of PUT and PATCH: `status` is required on both, `user_id` is in the path. */
export type UpdateBody = { readonly status: Status } & Readonly<Fields>

export type ReplyBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'unreadable' }
  | { readonly kind: 'json'; readonly value: unknown }

/** Any HTTP answer at all, whatever its status; what it means is decided by `classify`. */
export type Reply = {
  readonly status: number
  readonly body: ReplyBody
  /** From Retry-After (seconds or date), in milliseconds from receipt; absent when there was none. */
  readonly retryAfterMs?: number
  readonly durationMs: number
}

export type CallOptions = { readonly signal?: AbortSignal }

export type ClientOptions = {
  /** SERVICE_URL as it was read: an origin, and nothing behind it. */
  readonly origin: string
  readonly apiKey: string
  /** The whole call, from the wait for a socket to the answer's last byte, in milliseconds. */
  readonly timeoutMs: number
  /** Calls (and sockets) at once; those above that wait for one, inside their timeout. */
  readonly concurrency: number
  readonly allowPlainHttp: boolean
  /** Epoch milliseconds, for a Retry-After date in an answer without a Date. */
  readonly now?: () => number
}
