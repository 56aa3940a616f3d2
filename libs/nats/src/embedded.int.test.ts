import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { type EmbeddedNats, findNatsServer, startEmbeddedNats } from './embedded.js'
import { longTimeout } from './wait-for.fixture.js'

// If NATS runs in a container, there is no program to test.
const describeWithProgram = findNatsServer() ? describe : describe.skip

describeWithProgram('embedded NATS', () => {
  let root: string
  let running: EmbeddedNats | undefined

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'opsplane-nats-'))
  })

  afterEach(async () => {
    await running?.stop()
    running = undefined
    rmSync(root, { recursive: true, force: true })
  })

  const start = async (port?: number) => {
    running = await startEmbeddedNats({ storeDir: join(root, 'store'), port })
    return running
  }

  test('keeps messages over a restart', async () => {
    const first = await start()
    await withConnection(first.url, publishOne)
    await first.stop()

    const second = await start(first.port)

    expect(await withConnection(second.url, readOne)).toBe('hello')
  })

  test('keeps acknowledged messages when it is killed', async () => {
    const first = await start()
    await withConnection(first.url, publishOne)
    process.kill(first.pid, 'SIGKILL')

    const second = await start(first.port)

    expect(second.url).toBe(first.url)
    expect(await withConnection(second.url, readOne)).toBe('hello')
  })

  test('accepts messages of up to 8 MB', async () => {
    const { url } = await start()

    const limit = await withConnection(url, async (connection) => connection.info?.max_payload)

    expect(limit).toBe(8 * 1024 * 1024)
  })

  test('rejects a store that is in use', async () => {
    await start()

    await expect(startEmbeddedNats({ storeDir: join(root, 'store') })).rejects.toThrow(
      `is in use by process ${process.pid}`,
    )
  })
})

async function publishOne(connection: NatsConnection): Promise<void> {
  const manager = await jetstreamManager(connection, longTimeout)
  await manager.streams.add({ name: 'KEPT', subjects: ['kept.>'] })
  await jetstream(connection, longTimeout).publish('kept.one', 'hello')
}

async function readOne(connection: NatsConnection): Promise<string | undefined> {
  const manager = await jetstreamManager(connection, longTimeout)
  const message = await manager.streams.getMessage('KEPT', { seq: 1 })
  return message?.string()
}

async function withConnection<Result>(
  url: string,
  use: (connection: NatsConnection) => Promise<Result>,
): Promise<Result> {
  const connection = await connect({ servers: url })
  try {
    return await use(connection)
  } finally {
    await connection.close()
  }
}
