import { readFileSync } from 'node:fs'

type Package = { readonly version: string }

/** Of the package that this file belongs to, from src/ and from dist/ alike. */
export const VERSION = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as Package
).version
