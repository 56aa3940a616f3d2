import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { natsNames } from '@opsplane/contracts'
import { createLogger } from '@opsplane/runtime'
import { deleteStream, readStream, writeStream } from './backup/stream-backup.js'
import { type EmbeddedNats, findNatsServer, startEmbeddedNats } from './embedded.js'
import { connectNats, type NatsLink } from './link.js'
import { streamLog } from './stream-log.js'
import { ensureStreams } from './streams.js'

// If NATS runs in a container, there is no program to test.
const describeWithProgram = findNatsServer() ? describe : describe.skip
const hourMs = 3_600_000

describeWithProgram('what ids of topic events are made of', () => {
  const root = mkdtempSync(join(tmpdir(), 'opsplane-stream-identity-'))
  const names = natsNames('identity')
  const { topicsStream } = names
  let server: EmbeddedNats
  let link: NatsLink

  const start = async () => {
    server = await startEmbeddedNats({ storeDir: join(root, 'store') })
    link = connectNats({
      url: server.url,
      name: 'test',
      log: createLogger({ service: 'test', level: 'silent' }),
    })
  }
  const stop = async () => {
    await link.close()
    await server.stop()
  }
  const ensure = (hours: number) => ensureStreams(link, names, { topicsMaxAgeMs: hours * hourMs })
  const identity = () => streamLog(link, topicsStream).identity()

  beforeAll(start)
  afterAll(async () => {
    await stop()
    rmSync(root, { recursive: true, force: true })
  })

  test('the stream identity is unchanged by restarts and changes of configuration', async () => {
    await ensure(1)
    const before = await identity()
    for (const hours of [2, 3]) {
      await stop()
      await start()
      await ensure(hours)
      expect(await identity()).toBe(before)
    }
  })

  test('the stream identity is restored with the stream, also after a restart', async () => {
    await ensure(1)
    const before = await identity()
    await stop()
    await start()
    const connection = await link.ready()
    const copy = await readStream(connection, topicsStream)
    if (!copy) throw new Error('there is no stream')
    const chunks: Uint8Array[] = []
    for await (const chunk of copy.bytes) chunks.push(chunk)
    await deleteStream(connection, topicsStream)
    await writeStream(connection, copy.head, Readable.from(chunks))
    expect(await identity()).toBe(before)
  })

  test('the stream identity changes when the stream is recreated', async () => {
    await ensure(1)
    const before = await identity()
    await deleteStream(await link.ready(), topicsStream)
    await ensure(1)
    expect(await identity()).not.toBe(before)
  })
})
