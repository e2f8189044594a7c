// Draws docs/demo.svg: the last screen of a real `rollcall demo` in a terminal of 80 columns. It needs tmux.
//   node scripts/picture.mjs
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const COLUMNS = 80
const ROWS = 60
const CELL = { width: 8.4, height: 18 }
const COLORS = {
  30: '#6e7681',
  31: '#ff7b72',
  32: '#7ee787',
  33: '#e3b341',
  34: '#79c0ff',
  35: '#d2a8ff',
  36: '#76e3ea',
  90: '#8b949e',
}

const tmux = (...args) =>
  execFileSync('tmux', ['-L', `picture-${process.pid}`, ...args], { cwd: ROOT }).toString()

async function record() {
  const command = 'node dist/cli/bin.js demo; printf "\\n[ended]"; sleep 600'
  tmux('-f', '/dev/null', 'new-session', '-d', '-x', String(COLUMNS), '-y', String(ROWS), command)
  try {
    for (let seconds = 0; seconds < 180; seconds++) {
      await sleep(1000)
      const screen = tmux('capture-pane', '-e', '-p', '-S', '-200')
      if (screen.includes('[ended]')) return screen.split('[ended]')[0].trim().split('\n')
    }
    throw new Error('the demo did not end within three minutes')
  } finally {
    tmux('kill-server')
  }
}

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const ESCAPE = String.fromCharCode(27)
const COLOR = new RegExp(`(${ESCAPE}\\[[\\d;]*m)`)
const CODES = new RegExp(`^${ESCAPE}\\[([\\d;]*)m$`)

/** The parts of a line between its colour codes. */
function spansOf(line) {
  let style = {}
  return line.split(COLOR).flatMap((part) => {
    const codes = CODES.exec(part)?.[1]
    if (codes === undefined) return part === '' ? [] : [{ text: part, ...style }]
    for (const code of codes.split(';').map(Number)) {
      if (code === 0) style = {}
      else if (code === 1) style = { ...style, bold: true }
      else if (code === 2) style = { ...style, color: COLORS[90] }
      else if (code === 22) style = {}
      else if (code === 39) style = { bold: style.bold }
      else if (COLORS[code]) style = { ...style, color: COLORS[code] }
    }
    return []
  })
}

function drawLine(line, row) {
  let column = 0
  const spans = spansOf(line).map(({ text, color, bold }) => {
    const x = (12 + column * CELL.width).toFixed(1)
    column += [...text].length
    const weight = bold ? ' font-weight="bold"' : ''
    return `<tspan x="${x}" fill="${color ?? '#e6edf3'}"${weight}>${escaped(text)}</tspan>`
  })
  return `<text y="${24 + row * CELL.height}" xml:space="preserve">${spans.join('')}</text>`
}

const lines = await record()
const width = Math.ceil(24 + COLUMNS * CELL.width)
const height = 24 + lines.length * CELL.height
writeFileSync(
  `${ROOT}/docs/demo.svg`,
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<title>The end of rollcall demo: changes and calls by step, and that all customers agree with the service</title>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<g font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">
${lines.map(drawLine).join('\n')}
</g>
</svg>
`,
)
