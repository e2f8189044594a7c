// The program in few files, the libraries with it: a command that loads some hundred modules takes twice as long to start
// (docs/decisions/2026-11-30-the-program-is-bundled.md).
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Loaded by their paths. All other files lie in a folder of their own, as deep in `dist` as each source is in `src`. */
const entryPoints = ['index.ts', 'cli/bin.ts', 'embedded/guardian.ts', 'demo/rollcall.config.ts']

export async function bundleProgram(outdir) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: entryPoints.map((file) => join('src', file)),
    outbase: 'src',
    outdir,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    metafile: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    // Looked for while it runs, and not needed.
    external: ['pg-native'],
    // Libraries in the older format of modules ask for Node's own ones with it.
    banner: {
      js: `import { createRequire as makeRequire$ } from 'node:module'; const require = makeRequire$(import.meta.url);`,
    },
    legalComments: 'none',
    logLevel: 'warning',
  })
  writeFileSync(join(outdir, 'licenses.txt'), licensesOf(Object.keys(metafile.inputs)))
}

/** The license of each library that is in the program. */
function licensesOf(files) {
  const folders = files.map((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0])
  const texts = [...new Set(folders)]
    .filter(Boolean)
    .sort()
    .map((folder) => {
      const at = join(root, folder)
      const { name, version, license } = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8'))
      const [file] = globSync('{LICEN[CS]E,licen[cs]e}*', { cwd: at })
      return `${name} ${version}\n\n${file === undefined ? license : readFileSync(join(at, file), 'utf8').trim()}\n`
    })
  return `The libraries that are part of this program, and their licenses.\n\n${texts.join(`\n${'-'.repeat(80)}\n\n`)}`
}
