// Builds dist/ afresh, so that a file that was deleted in src/ does not live on in the package.
import { execFileSync } from 'node:child_process'
import { chmodSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundlePage } from './page.mjs'

rmSync(new URL('../dist', import.meta.url), { recursive: true, force: true })
execFileSync('tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit', shell: process.platform === 'win32' })
await bundlePage(fileURLToPath(new URL('../dist/report/page', import.meta.url)))
chmodSync(new URL('../dist/cli/bin.js', import.meta.url), 0o755)
