import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { natsNames } from '@opsplane/contracts'
import { connectNats, type NatsLink } from '@opsplane/nats'
import { type EmbeddedNats, startEmbeddedNats } from '@opsplane/nats/embedded'
import { waitFor } from '@opsplane/testing'
import { openService, type Service } from '../fixture/relayed-service.js'
import { openManager, streamMessages } from '../fixture/stream-messages.js'
import { log, schema } from '../fixture/test-database.js'

const names = natsNames('broken')
const stream = names.eventsStream
let storeDir: string
let server: EmbeddedNats
let link: NatsLink
let service: Service

beforeEach(async () => {
  storeDir = mkdtempSync(join(tmpdir(), 'broken-stream-'))
  server = await startEmbeddedNats({ storeDir })
  link = connectNats({ url: server.url, name: 'broken-stream', log })
  service = await openService(schema, link, names)
})
afterEach(async () => {
  await service.stop()
  await link.close()
  await server.stop()
  rmSync(storeDir, { recursive: true, force: true })
})

/** Makes the stream lose what it acknowledges, by purging it repeatedly. Returns a function that stops this. */
function breakStream(): () => Promise<void> {
  let isOver = false
  const purging = (async () => {
    const { streams } = await openManager(link)
    while (!isOver) {
      await streams.purge(stream)
      await setImmediate()
    }
  })()
  return () => {
    isOver = true
    return purging
  }
}

test('refills a stream that loses its messages with growing delays, and again when the server restarts', async () => {
  // Given a stream that acknowledges events and loses them
  await service.write(30)
  await service.drained()
  const mend = breakStream()

  // When it is refilled until that has failed three times
  await waitFor(() => service.refillsFailed() >= 3)

  // Then it was not refilled more often than that, and is complete once the server keeps what it acknowledges
  expect(service.refills()).toBeLessThanOrEqual(5)
  await mend()
  await server.stop()
  await waitFor(() => !link.connected())
  server = await startEmbeddedNats({ storeDir, port: server.port })
  await waitFor(() => link.connected())
  await waitFor(async () => {
    const kept = new Set((await streamMessages(link, names)).map(({ event }) => event.id))
    return (await service.committed()).every((id) => kept.has(id))
  })
  await waitFor(async () => {
    await service.write(1)
    return service.refillsFailed() === 0
  })
})
