import { natsNames, newId, type PlatformEvent } from '@opsplane/contracts'
import { connectNats } from '@opsplane/nats'
import { createLogger } from '@opsplane/runtime'
import { signedHeaders, testNatsUrl } from '@opsplane/testing'

/** An event of another service, as received from the stream. */
export function foreignEvent(workspaceId: string, fields: Partial<PlatformEvent> = {}): PlatformEvent {
  return {
    id: newId('event'),
    type: 'incident.created',
    workspaceId,
    environment: 'production',
    createdAt: '2026-03-01T09:00:00.000Z',
    actor: { id: 'usr_far', name: 'Far', type: 'user' },
    resource: { type: 'incident', id: 'inc_1', number: 'INC-1', displayName: 'Checkout answers 502' },
    data: { before: null, after: { title: 'Checkout answers 502' }, changes: ['title'] },
    version: 1,
    requestId: 'req-12345678',
    causationId: null,
    source: { address: '203.0.113.9', userAgent: 'far/1' },
    ...fields,
  }
}

/**
 * Publishes without a message id: the stream then accepts duplicates, as it does for a reseed after its duplicate
 * window.
 */
export async function publish(
  natsPrefix: string,
  events: readonly PlatformEvent[],
  { signed = true }: { signed?: boolean } = {},
): Promise<void> {
  const log = createLogger({ service: 'publisher', level: 'silent' })
  const link = connectNats({ url: testNatsUrl(), name: 'publisher', log })
  const names = natsNames(natsPrefix)
  const connection = await link.ready()
  for (const event of events) {
    const [subject, body] = [names.eventSubject(event), JSON.stringify(event)]
    const headers = signed ? { headers: signedHeaders({ subject, body }) } : {}
    await connection.request(subject, body, { timeout: 30_000, ...headers })
  }
  await link.close()
}
