import { eventExample, eventTypes, newId, type PlatformEvent } from '@opsplane/contracts'

/** An event, and what the audit log has as its `after` and a delivery as its `data`. */
export interface ShownEvent {
  event: PlatformEvent
  shown: Record<string, unknown>
}

/** One event of every type of the catalogue in a workspace, and a deletion. What is shown of each is put together here by itself. */
export function shownEvents(workspaceId: string): ShownEvent[] {
  const examples = eventTypes.map((type) => eventExample(type))
  return examples.map((example) => {
    const event: PlatformEvent = { ...example, id: newId('event'), workspaceId }
    const { before, after, changes: _, ...extras } = event.data
    const resource = after ?? before ?? {}
    const shown: Record<string, unknown> = { ...resource }
    for (const [name, value] of Object.entries({ ...extras, version: event.version }))
      if (!(name in resource)) shown[name] = value
    return { event, shown }
  })
}
