import { eventExample, natsNames, newId, type PauseReason, type PlatformEvent } from '@opsplane/contracts'
import { connectNats } from '@opsplane/nats'
import { createLogger } from '@opsplane/runtime'
import { signedHeaders, testNatsUrl, waitFor } from '@opsplane/testing'

/** `webhook.paused` as the dispatcher emits it. */
export function pausedEvent(
  workspaceId: string,
  { reason = 'consecutive_failures', name = 'Orders', ...fields }: PausedFields = {},
): PlatformEvent {
  const { data, resource, ...event } = eventExample('webhook.paused')
  return {
    ...event,
    id: newId('event'),
    workspaceId,
    createdAt: '2026-03-01T10:00:00.000Z',
    resource: { ...resource, displayName: name },
    data: { ...data, reason, ...(reason === 'consecutive_failures' && { consecutiveFailures: 5 }) },
    ...fields,
  }
}
type PausedFields = Partial<Pick<PlatformEvent, 'environment' | 'createdAt'>> & {
  reason?: PauseReason
  name?: string
}

/** `workflow.approval_requested` as the workflows service emits it. */
export function approvalEvent(
  workspaceId: string,
  { createdAt, ...asked }: { users: string[]; roles: string[]; createdAt?: string },
): PlatformEvent {
  const { data, ...event } = eventExample('workflow.approval_requested')
  const approval = { step: 'ask', title: 'May I?', dueAt: null, ...asked }
  const at = createdAt === undefined ? {} : { createdAt }
  return { ...event, ...at, id: newId('event'), workspaceId, data: { ...data, approval } }
}

/** Publishes events to the stream, as another service's relay does. */
export async function publishEvents(natsPrefix: string, events: PlatformEvent[]): Promise<void> {
  const log = createLogger({ service: 'publisher', level: 'silent' })
  const link = connectNats({ url: testNatsUrl(), name: 'publisher', log })
  const names = natsNames(natsPrefix)
  const connection = await link.ready()
  // Retries, because a service that has just started creates the stream first.
  for (const event of events) {
    const [subject, body] = [names.eventSubject(event), JSON.stringify(event)]
    const headers = signedHeaders({ subject, body })
    await waitFor(() => connection.request(subject, body, { timeout: 5_000, headers }))
  }
  await link.close()
}
