import { eventExample, eventTypes, newId, PlatformEvent } from '@opsplane/contracts'

/** An event, and its expected `after` in the audit log and `data` in a delivery. */
export interface ShownEvent {
  event: PlatformEvent
  shown: Record<string, unknown>
}

/** One event of every type of the catalogue in a workspace, with its expected representation. */
export function shownEvents(workspaceId: string): ShownEvent[] {
  return eventTypes.map((type) => {
    const event = PlatformEvent.parse({ ...eventExample(type), id: newId('event'), workspaceId })
    const { before, after, changes: _, ...extras } = event.data
    const resource = after ?? before ?? {}
    const shown: Record<string, unknown> = { ...resource }
    for (const [name, value] of Object.entries({ ...extras, version: event.version }))
      if (!(name in resource)) shown[name] = value
    return { event, shown }
  })
}
