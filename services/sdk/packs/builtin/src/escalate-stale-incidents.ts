import { artifact, HostError } from '@opsplane/sdk'

interface Input {
  hours?: number
  most?: number
}
type Incident = { id: string; severity: string; updatedAt: string }

const graver: Record<string, string | undefined> = { low: 'medium', medium: 'high', high: 'critical' }

/** The incidents untouched longest come first, so the remainder is handled by the next execution. */
export default artifact<Input>(async ({ hours = 8, most = 50 }, host) => {
  const before = new Date(Date.parse(host.context.now) - hours * 3_600_000).toISOString()
  const { data: incidents } = await host.api<Incident[]>({
    operation: 'listIncidents',
    query: { status: 'open,in_progress', severity: 'high,medium,low', sort: 'updatedAt', limit: most },
  })
  const stale = incidents.filter(({ updatedAt }) => updatedAt < before)
  const escalated: string[] = []
  let skipped = 0
  for (const { id, severity } of stale) {
    try {
      await host.api({
        operation: 'escalateIncident',
        params: { id },
        body: { severity: graver[severity] ?? 'critical', reason: `Untouched for ${hours} hours.` },
      })
      escalated.push(id)
    } catch (error) {
      // It may have been resolved in the meantime.
      if (!(error instanceof HostError)) throw error
      host.log.warn(`not escalated: ${id}`, { code: error.code, message: error.message })
      skipped += 1
    }
  }
  return { escalated, skipped }
})
