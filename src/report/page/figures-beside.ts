import type { Chart, Plugin } from 'chart.js'
import { figure } from '../figures.ts'

type Options = { color: string }

declare module 'chart.js' {
  interface PluginOptionsByType<TType> {
    /** An empty colour: no figures. */
    figuresBeside?: TType extends 'bar' | 'line' ? Options : never
  }
}

/** The figure of each bar beside its end: on paper and on a phone nobody hovers. */
export const figuresBeside: Plugin<'bar' | 'line', Options> = {
  id: 'figuresBeside',
  afterDatasetsDraw(chart: Chart, _args: unknown, { color }: Options) {
    if (!color) return
    const { ctx } = chart
    ctx.save()
    ctx.fillStyle = color
    ctx.font = '600 12px system-ui, sans-serif'
    ctx.textBaseline = 'middle'
    const { data } = chart.data.datasets[0] ?? { data: [] }
    for (const [n, bar] of chart.getDatasetMeta(0).data.entries())
      ctx.fillText(figure(Number(data[n])), bar.x + 6, bar.y)
    ctx.restore()
  },
}
