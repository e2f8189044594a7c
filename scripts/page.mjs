// The script and the style of the report page, each bundled into one file that html.ts puts into the page.
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const source = new URL('../src/report/page/', import.meta.url)

export async function bundlePage(outdir) {
  await build({
    entryPoints: ['page.ts', 'page.css'].map((file) => fileURLToPath(new URL(file, source))),
    outdir,
    bundle: true,
    minify: true,
    format: 'iife',
    target: ['chrome100', 'firefox100', 'safari15'],
    charset: 'utf8',
    logLevel: 'warning',
  })
}
