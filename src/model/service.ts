/** The service that an output is about. */
export type NamedService = {
  readonly origin: string
  readonly environment: 'production' | 'demo'
  /** On this machine: then it is a stand-in, whatever the configuration calls it. */
  readonly local: boolean
}

/** The one form in which every output names it. */
export function renderService({ origin, environment, local }: NamedService): string {
  return `${origin} (${environment}${local ? ', on this machine' : ''})`
}
