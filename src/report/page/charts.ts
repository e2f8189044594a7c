// Draws each chart from the table beside it.
import { Chart, type ChartConfiguration, registerables, type Scale } from 'chart.js'
import { figure as inFigures, minute, percent } from '../figures.ts'

Chart.register(...registerables)
Chart.defaults.plugins.legend.display = false

/** Draws all of them afresh, in the colours of the moment. `pick`: what a click on a bar does. */
export function makeDrawing(pick: (filter: string, value: string) => void): () => void {
  const drawn: Chart[] = []
  return () => {
    for (const chart of drawn.splice(0)) chart.destroy()
    const colours = coloursNow()
    for (const figure of document.querySelectorAll<HTMLElement>('figure[data-chart]')) {
      const canvas = figure.querySelector('canvas')
      const drawing = figure.querySelector<HTMLElement>('.drawing')
      if (canvas === null || drawing === null) continue
      drawing.hidden = false
      const bars = figure.dataset.chart === 'bars'
      const rows = [...figure.querySelectorAll<HTMLElement>('tbody tr')].map(({ dataset }) => dataset)
      drawing.style.height = bars ? `${rows.length * 36 + 16}px` : '240px'
      const filter = figure.dataset.filter ?? ''
      const onBar = (value: string) => pick(filter, value)
      drawn.push(new Chart(canvas, bars ? barsOf(rows, colours, onBar) : trendOf(rows, colours)))
    }
  }
}

type Rows = readonly DOMStringMap[]

const STILL = { animation: false, maintainAspectRatio: false } as const

function barsOf(rows: Rows, colours: Colours, onBar: (value: string) => void): ChartConfiguration {
  return {
    type: 'bar',
    data: {
      // With its figure: on paper and on a phone there is no hovering.
      labels: rows.map(({ label, count }) => `${label}: ${inFigures(Number(count))}`),
      datasets: [
        {
          data: rows.map(({ count }) => Number(count)),
          backgroundColor: rows.map(({ value }) => colours.of(value ?? '')),
          borderRadius: 3,
          barThickness: 18,
        },
      ],
    },
    options: {
      ...STILL,
      indexAxis: 'y',
      onClick: (_, [hit]) => {
        const value = hit === undefined ? undefined : rows[hit.index]?.value
        if (value !== undefined) onBar(value)
      },
      onHover: ({ native }, hits) => {
        const { target } = native ?? {}
        if (target instanceof HTMLElement) target.style.cursor = hits.length > 0 ? 'pointer' : ''
      },
      scales: {
        x: { display: false, beginAtZero: true },
        y: {
          grid: { display: false },
          border: { display: false },
          ticks: { color: colours.text, font: NAMES },
          afterFit: wideEnough,
        },
      },
      plugins: { tooltip: { enabled: false } },
    },
  }
}

const NAMES = { size: 12, family: 'system-ui, sans-serif' }
const BESIDE_NAME = 14

/** Left to itself an axis takes half of the width at most, and on a phone cuts the longer names off at their beginning. */
function wideEnough(axis: Scale): void {
  const { ctx } = axis.chart
  ctx.save()
  ctx.font = `${NAMES.size}px ${NAMES.family}`
  const widths = axis.getLabels().map((name) => ctx.measureText(name).width)
  ctx.restore()
  axis.width = Math.ceil(Math.max(0, ...widths)) + BESIDE_NAME
}

function trendOf(rows: Rows, colours: Colours): ChartConfiguration {
  const points = rows.flatMap(({ at, share, sampled }) =>
    at === undefined || share === undefined ? [] : [{ at, share: Number(share), sampled }],
  )
  return {
    type: 'line',
    data: {
      // The day and the time of each run, in UTC as everywhere in a report, on a line of its own.
      labels: points.map(({ at }) => minute(at).replace(' UTC', '').split(' ')),
      datasets: [
        {
          data: points.map(({ share }) => share),
          borderColor: colours.line,
          borderWidth: 2,
          pointRadius: 4,
          // The first and the last are on the edge.
          clip: 8,
          // A sample is an estimate, and looks less solid.
          pointBackgroundColor: points.map(({ sampled }) =>
            sampled === undefined ? colours.line : colours.paper,
          ),
        },
      ],
    },
    options: {
      ...STILL,
      scales: {
        x: { grid: { display: false }, ticks: { color: colours.text, maxRotation: 0, autoSkipPadding: 12 } },
        y: {
          beginAtZero: true,
          grid: { color: colours.faint },
          border: { display: false },
          ticks: { color: colours.text, maxTicksLimit: 5, callback: (value) => percent(Number(value)) },
        },
      },
      plugins: {
        tooltip: {
          displayColors: false,
          callbacks: {
            title: ([item]) => minute(points[item?.dataIndex ?? 0]?.at ?? ''),
            label: ({ parsed }) => percent(parsed.y ?? 0),
          },
        },
      },
    },
  }
}

type Colours = ReturnType<typeof coloursNow>

/** The colours of the style sheet, as they are now: light, dark, or those of paper. */
function coloursNow() {
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim()
  const line = colour('accent')
  return {
    text: colour('text'),
    faint: colour('edge'),
    paper: colour('card'),
    line,
    /** Kinds have colours of their own; everything else has one. */
    of: (value: string) => colour(value) || line,
  }
}
