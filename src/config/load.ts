import { statSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { isAbsolute, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { RollcallError } from '../model/errors.ts'
import type { Config } from './config.ts'
import { resolveConfig } from './resolve.ts'

const CONFIG_NAMES = ['rollcall.config.ts', 'rollcall.config.js', 'rollcall.config.mjs'] as const

/**
 * Finds and reads the configuration.
 *
 * @param path the file that was named (`--config`), from `cwd`; else the first of CONFIG_NAMES in `cwd`
 * @throws RollcallError CONFIG_NOT_FOUND, or CONFIG_INVALID with every mistake
 */
export async function loadConfig(path?: string, cwd: string = process.cwd()): Promise<Config> {
  const file = findConfig(path, cwd)
  const shown = shownPath(file, cwd)
  const module = await importConfig(file, shown)
  const nothing = `${shown}: it has no default export; write \`export default defineConfig({ … })\``
  if (module.default === undefined) throw new RollcallError('CONFIG_INVALID', [nothing])
  return resolveConfig(module.default, file, shown)
}

function findConfig(path: string | undefined, cwd: string): string {
  const names = path === undefined ? CONFIG_NAMES : [path]
  const files = names.map((name) => resolve(cwd, name))
  const file = files.find((path) => statSync(path, { throwIfNoEntry: false })?.isFile())
  if (file !== undefined) return file
  const missed =
    path === undefined ? `looked for ${names.join(', ')} in ${cwd}` : `there is no file ${files[0]}`
  throw new RollcallError('CONFIG_NOT_FOUND', [missed])
}

/** Only the first line of what the file throws: it is the author's own file, and a stack tells nothing more. */
async function importConfig(file: string, shown: string): Promise<Record<string, unknown>> {
  const url = pathToFileURL(file).href
  // It is an ES module whatever the nearest package.json says: `npm init` writes "type": "commonjs".
  const format = file.endsWith('ts') ? 'module-typescript' : 'module'
  const hooks = registerHooks({
    resolve: (specifier, context, next) => {
      if (specifier === 'rollcall') return { url: OWN_ENTRY, shortCircuit: true }
      const resolved = next(specifier, context)
      return resolved.url === url ? { ...resolved, format } : resolved
    },
  })
  try {
    return (await import(/* @vite-ignore */ url)) as Record<string, unknown>
  } catch (error) {
    const place = lineOf(error, url)
    throw new RollcallError(
      'CONFIG_INVALID',
      [
        `${shown}${place}: loading the file failed: ${firstLine(error).replace(/\. Expected \.\.\. .*/, '.')}`,
      ],
      { cause: error },
    )
  } finally {
    hooks.deregister()
  }
}

/**
 * `import … from 'rollcall'` means this very package. So a configuration also works outside a project (a container's
 * /etc, a test's temporary folder), and never meets a second copy.
 */
const OWN_ENTRY = new URL(import.meta.url.endsWith('.ts') ? '../index.ts' : '../index.js', import.meta.url)
  .href

/** Syntax errors name their place at the head of the stack only. */
function lineOf(error: unknown, url: string): string {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  const at = stack.indexOf(`${url}:`)
  const number = at < 0 ? undefined : /^\d+/.exec(stack.slice(at + url.length + 1))?.[0]
  return number === undefined ? '' : `:${number}`
}

function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.split('\n')[0] || 'it throws an error without a message'
}

function shownPath(file: string, cwd: string): string {
  const path = relative(cwd, file)
  return path.startsWith('..') || isAbsolute(path) ? file : path
}
