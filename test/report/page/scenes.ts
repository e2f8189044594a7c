import type { PastRun, Report } from '../../../src/report/report.ts'
import { aFinding, aReport } from '../scene.ts'

export const HOSTILE = [
  '</script><script>document.title = "hit"</script>',
  '<img src=x onerror="document.title = \'hit\'">',
  '"><svg onload=document.title="hit">',
  '<!--<script>',
  "javascript:document.title='hit'",
]

/** In every place that a text from outside gets to. */
export function hostileReport(): Report {
  const findings = HOSTILE.map((text, n) =>
    aFinding({
      id: String(n),
      key: text,
      userId: text.toUpperCase(),
      shown: [{ field: 'email', here: text, service: { text } }],
    }),
  )
  const { options, target } = aReport()
  return aReport({
    findings,
    target: { ...target, origin: HOSTILE[0] ?? '' },
    options: { ...options, values: true, where: HOSTILE[1] ?? '' },
  })
}

export const TREND: PastRun[] = [1, 8, 15].map((day) => ({
  kind: 'run',
  endedAt: `2026-11-${String(day).padStart(2, '0')}T03:00:00.000Z`,
  checked: 1900,
  drifting: day,
  sampled: false,
  credible: true,
}))
