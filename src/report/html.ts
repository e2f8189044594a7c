// The page for people: one file that needs nothing else, so that it can be mailed, archived and opened without a net.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { renderService } from '../model/service.ts'
import { charts } from './charts.ts'
import { minute } from './figures.ts'
import { asData, type Markup, markup, prose } from './markup.ts'
import { renderHeadline } from './render.ts'
import type { Report } from './report.ts'
import { renderMethod, renderUnverifiable, renderWhen } from './scope.ts'
import { bullets, cards, list, personal, scope, unanswered } from './sections.ts'

/** Script and style of the page, each as one file; `npm run build` bundles them from page/. */
type Assets = { readonly script: string; readonly style: string }

/** The same folder from src/ and from dist/. */
const FOLDER = new URL('../../dist/report/page/', import.meta.url)

export async function readAssets(folder = FOLDER): Promise<Assets> {
  const read = (file: string) => readFile(new URL(file, folder), 'utf8')
  return { script: await read('page.js'), style: await read('page.css') }
}

/** The policy lets the two parts run that are written here, by their digests: no address, no inline handler. */
export function htmlPage(report: Report, { script, style }: Assets): string {
  if (/<\/(script|style)/i.test(script + style)) throw new Error('script or style would end its own element')
  const ours = `script-src ${digestOf(script)}; style-src ${digestOf(style)}`
  const policy = `default-src 'none'; ${ours}; base-uri 'none'; form-action 'none'`
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>Drift at ${renderService(report.target)}, ${minute(report.endedAt)}</title>
<style>${{ html: style }}</style>
</head>
<body>
${body(report)}
<script type="application/json" id="findings">${asData(report.findings)}</script>
<script>${{ html: script }}</script>
</body>
</html>
`.html
}

function body(report: Report): Markup {
  const { tone, text, more } = renderHeadline(report)
  const resume = report.outcome.kind === 'stopped' ? report.outcome.resume : null
  const isResume = (line: string) => resume !== null && line.endsWith(resume)
  return markup`<header class="${tone}">
<p class="what">Drift report <span>${renderService(report.target)}</span> <span>${renderWhen(report)}</span></p>
<h1>${text}</h1>
${more.map((line) => markup`<p>${isResume(line) ? line : prose(line)}</p>\n`)}</header>
<main>
${personal(report)}
${cards(report)}
${charts(report)}
${list(report)}
${scope(report)}
${unanswered(report)}
${bullets('How drift is found', renderMethod(report))}
${bullets('What this report does not show', renderUnverifiable(report))}
</main>
<footer>Written by rollcall ${report.writtenBy}. This file needs no other file and no server.</footer>`
}

function digestOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
