import { expect, test } from '@jest/globals'
import type { ServerInfo } from '@nats-io/transport-node'
import { natsNames } from '@opsplane/contracts'
import type { LoggedEvent } from '../logged-events.js'
import { publishEvent } from './publish-event.js'

const ack = { sequence: 7, duplicate: false }

const publishTo = (info: Pick<ServerInfo, 'max_payload'> | undefined) => {
  const event = { id: 'evt_1', streamId: 's', position: '1', workspaceId: 'ws_1', environment: 'production' }
  return publishEvent({ ...event, type: 'ticket.created', requestId: null, data: '{}' } as LoggedEvent, {
    inbox: { publish: async () => ack, close() {} },
    connection: { info: info as ServerInfo },
    ...{ names: natsNames(), schema: 'test', floor: 0, signatures: undefined },
  })
}

test('does not publish an event larger than the max_payload of the server', async () => {
  expect(await publishTo({ max_payload: 4_100 })).toBeUndefined()
  expect(await publishTo({ max_payload: 1_048_576 })).toBe(ack)
})

test('treats no event as too large while the client connects and max_payload is unknown', async () => {
  expect(await publishTo(undefined)).toBe(ack)
})
