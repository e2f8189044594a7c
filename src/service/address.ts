import { RollcallError } from '../model/errors.ts'

/**
 * The address under which the service's paths stand. Takes an origin, or one that already ends in `/s2s/v1`,
 * with or without a trailing slash; user and password in it are dropped (section 5 knows no such thing).
 * Plain http is for this machine only: the Secret-Key would be readable on the way.
 *
 * Throws RollcallError ENV_INVALID (no http address) or SERVICE_INSECURE.
 */
export function serviceAddress(origin: string, allowPlainHttp: boolean): string {
  const url = URL.canParse(origin) ? new URL(origin) : null
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new RollcallError('ENV_INVALID', [
      'SERVICE_URL: expected an address such as https://service.example',
    ])
  }
  if (url.protocol === 'http:' && !allowPlainHttp && !isLoopback(url.hostname)) {
    throw new RollcallError('SERVICE_INSECURE', [`SERVICE_URL: plain http to ${url.hostname}`])
  }
  return url.origin + url.pathname.replace(/\/+$/, '').replace(/\/s2s\/v1$/, '')
}

/** `hostname` as URL writes it: IPv4 in four decimal parts, IPv6 in brackets, names in lower case. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}
