import { artifact } from '@opsplane/sdk'

/** The event in the format of webhooks. */
interface Input {
  id: string
  event: string
  data: { id: string; number?: string; title: string; severity: string }
}

export default artifact<Input>(async ({ id, event, data }, host) => {
  const { number = data.id, title, severity } = data
  const published = await host.publish({
    topic: 'incidents.grave',
    type: event,
    payload: { incidentId: data.id, number, title, severity, text: `${severity}: ${number} ${title}` },
    // Events are delivered at least once.
    deduplicationKey: id,
  })
  return { eventId: published.id }
})
