import { readFile } from 'node:fs/promises'

/** Script and style of the page, each as one file; `npm run build` bundles them from page/. */
export type Assets = { readonly script: string; readonly style: string }

/** The same folder from src/ and from dist/. */
const FOLDER = new URL('../../dist/report/page/', import.meta.url)

export async function readAssets(folder = FOLDER): Promise<Assets> {
  const [script, style] = await Promise.all(
    ['page.js', 'page.css'].map((file) => readFile(new URL(file, folder), 'utf8')),
  )
  return { script: script ?? '', style: style ?? '' }
}
