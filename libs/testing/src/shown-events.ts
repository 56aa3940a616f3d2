import { eventExample, eventTypes, newId, PlatformEvent } from '@opsplane/contracts'

/** An event, and what the audit log has as its `after` and a delivery as its `data`. */
export interface ShownEvent {
  event: PlatformEvent
  shown: Record<string, unknown>
}

/** One event of every type of the catalogue in a workspace, with what is to be shown of it. */
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
