import { headerValue, serviceAddress } from './address.ts'
import type { CallOptions, ClientOptions, CreateBody, UpdateBody } from './client.ts'
import { makeHttp } from './http.ts'
import { USERS, userPath } from './path.ts'

export type UsersClient = ReturnType<typeof makeUsersClient>
export type UsersClientOptions = ClientOptions & { readonly secretKey: string }

/**
 * The users part of the service (sections 4.3 to 4.6) with the headers of section 5, Content-Type on GET
 * included. Each method makes one HTTP call and resolves to whatever answer came; it rejects with a CallError
 * when none came, which says whether the request can have reached the service.
 *
 * Throws RollcallError SERVICE_INSECURE or ENV_INVALID at once.
 */
export function makeUsersClient(options: UsersClientOptions) {
  const { origin, apiKey, secretKey, timeoutMs, concurrency, allowPlainHttp, now = Date.now } = options
  const address = serviceAddress(origin, allowPlainHttp)
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    'api-key': headerValue('SERVICE_API_KEY', apiKey),
    'secret-key': headerValue('SERVICE_SECRET_KEY', secretKey),
  }
  const http = makeHttp({ address, headers, timeoutMs, concurrency, now })
  return {
    async createUser(body: CreateBody, { signal }: CallOptions = {}) {
      return http.call({ method: 'POST', path: USERS, body, signal })
    },
    async retrieveUser(userId: string, { signal }: CallOptions = {}) {
      return http.call({ method: 'GET', path: userPath(userId), signal })
    },
    async replaceUser(userId: string, body: UpdateBody, { signal }: CallOptions = {}) {
      return http.call({ method: 'PUT', path: userPath(userId), body, signal })
    },
    async updateUser(userId: string, body: UpdateBody, { signal }: CallOptions = {}) {
      return http.call({ method: 'PATCH', path: userPath(userId), body, signal })
    },
    close: http.close,
  }
}
