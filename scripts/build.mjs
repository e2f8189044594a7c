// Builds dist/ afresh, so that a file that was deleted in src/ does not live on in the package.
import { execFileSync } from 'node:child_process'
import { chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundlePage } from './page.mjs'
import { bundleProgram } from './program.mjs'

const DIST = fileURLToPath(new URL('../dist', import.meta.url))

rmSync(DIST, { recursive: true, force: true })
await bundleProgram(DIST)
// The types of a configuration.
execFileSync('tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit', shell: process.platform === 'win32' })
await bundlePage(join(DIST, 'report/page'))
chmodSync(join(DIST, 'cli/bin.js'), 0o755)
