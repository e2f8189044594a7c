// Lines over time, one small chart below the other, as SVG.

const [WIDTH, HEIGHT, GAP, LEFT] = [760, 64, 34, 60]

/** Each series in a chart that begins at zero; `step`: minutes between two values. */
export function drawSeries(series: Readonly<Record<string, readonly number[]>>, step: number): string {
  const charts = Object.entries(series).map(([name, values], i) =>
    chart(name, values, GAP + i * (HEIGHT + GAP)),
  )
  const height = GAP + charts.length * (HEIGHT + GAP)
  const minutes = Math.round(step * Math.max(...Object.values(series).map(({ length }) => length)))
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH + LEFT + 20} ${height}" font-family="system-ui, sans-serif" font-size="12">
<title>Lines over ${minutes} minutes: ${Object.keys(series).join(', ')}</title>
<rect width="100%" height="100%" fill="#fff"/>
${charts.join('\n')}
<text x="${LEFT}" y="${height - 12}" fill="#57606a">0</text>
<text x="${LEFT + WIDTH}" y="${height - 12}" fill="#57606a" text-anchor="end">${minutes} minutes</text>
</svg>
`
}

function chart(name: string, values: readonly number[], top: number): string {
  const most = Math.max(...values, Number.EPSILON)
  const points = values.map((value, i) => {
    const x = LEFT + (WIDTH * i) / Math.max(1, values.length - 1)
    return `${x.toFixed(1)},${(top + HEIGHT - (HEIGHT * value) / most).toFixed(1)}`
  })
  const bottom = top + HEIGHT
  return `<text x="${LEFT}" y="${top - 6}" fill="#1f2328">${name}</text>
<text x="${LEFT - 6}" y="${top + 10}" fill="#57606a" text-anchor="end">${most.toFixed(most < 10 ? 1 : 0)}</text>
<text x="${LEFT - 6}" y="${bottom}" fill="#57606a" text-anchor="end">0</text>
<path d="M${LEFT},${bottom}h${WIDTH}" stroke="#d0d7de"/>
<polyline points="${points.join(' ')}" fill="none" stroke="#0969da" stroke-width="1.5"/>`
}
