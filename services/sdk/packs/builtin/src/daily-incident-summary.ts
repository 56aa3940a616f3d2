import { artifact, type Json } from '@opsplane/sdk'

type Incident = { severity: string }

/** Maximum number of pages read. Beyond 2,000 incidents the exact figures of a summary do not matter. */
const mostPages = 10

export default artifact<Json>(async (_, host) => {
  const bySeverity: Record<string, number> = { critical: 0, high: 0, medium: 0, low: 0 }
  let total = 0
  let after: string | null = null
  for (let page = 0; page < mostPages; page += 1) {
    const query: { [name: string]: Json } = { status: 'open,in_progress,on_hold', limit: 200 }
    if (after !== null) query.after = after
    const { data, pagination } = await host.api<Incident[]>({ operation: 'listIncidents', query })
    for (const { severity } of data) bySeverity[severity] = (bySeverity[severity] ?? 0) + 1
    total += data.length
    after = pagination?.nextCursor ?? null
    if (after === null) break
  }
  const date = host.context.now.slice(0, 10)
  const summary = { date, total, bySeverity, complete: after === null }
  await host.publish({
    topic: 'summaries.daily',
    type: 'summary.incidents',
    payload: summary,
    deduplicationKey: `incidents-${date}`,
  })
  return summary
})
