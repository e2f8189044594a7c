/** Outside of 9100 to 9999, every one of which is some exporter's, and of the ports that systems hand out. */
const PORT = 10_464
const HOST = '127.0.0.1'

export type OpsAddress = {
  readonly host: string
  readonly port: number
  /** Nobody asked for this port. */
  readonly byDefault: boolean
}

/** Where the ops port listens, by OPS_HOST and OPS_PORT as `readEnv` has checked them; null: nowhere. */
export function opsAddress(env: {
  readonly OPS_HOST?: string
  readonly OPS_PORT?: string
}): OpsAddress | null {
  const { OPS_HOST: host = HOST, OPS_PORT: port } = env
  if (port === undefined) return { host, port: PORT, byDefault: true }
  return port === 'off' ? null : { host, port: Number(port), byDefault: false }
}

/** Why the system lets nobody listen, by its code. */
export const NOT_LISTENING: Readonly<Record<string, string>> = {
  EADDRINUSE: 'something listens there already',
  EADDRNOTAVAIL: 'no address of this machine',
  EAFNOSUPPORT: 'no kind of address that this machine has',
  EINVAL: 'no address of this machine',
  EACCES: 'not allowed to listen there',
  EPERM: 'not allowed to listen there',
  ENOTFOUND: 'no host of this name',
  EAI_AGAIN: 'the name of the host cannot be looked up now',
}
