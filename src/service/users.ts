import { USERS, userPath } from './address.ts'
import type { CallOptions, ClientOptions, CreateBody, UpdateBody } from './client.ts'
import { makeHttp } from './http.ts'

export type UsersClient = ReturnType<typeof makeUsersClient>
export type UsersClientOptions = ClientOptions & { readonly secretKey: string }

/**
 * The users part of the service (sections 4.3 to 4.6) with the headers of section 5, Content-Type on GET
 * included. Each method makes one HTTP call and resolves to whatever answer came; it rejects with a CallError
 * when none came, which says whether the request can have reached the service.
 *
 * Throws RollcallError SERVICE_INSECURE at once.
 */
export function makeUsersClient({ secretKey, ...options }: UsersClientOptions) {
  const headers = { 'content-type': 'application/json', 'secret-key': secretKey }
  const http = makeHttp({ ...options, headers })
  const updating = (method: 'PUT' | 'PATCH') => {
    return async (userId: string, body: UpdateBody, { signal }: CallOptions = {}) =>
      http.call({ method, path: userPath(userId), body, signal })
  }
  return {
    async createUser(body: CreateBody, { signal }: CallOptions = {}) {
      return http.call({ method: 'POST', path: USERS, body, signal })
    },
    async retrieveUser(userId: string, { signal }: CallOptions = {}) {
      return http.call({ method: 'GET', path: userPath(userId), signal })
    },
    replaceUser: updating('PUT'),
    updateUser: updating('PATCH'),
    close: http.close,
  }
}
