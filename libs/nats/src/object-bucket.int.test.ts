import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createLogger } from '@opsplane/runtime'
import { type EmbeddedNats, startEmbeddedNats } from './embedded.js'
import { connectNats, type NatsLink } from './link.js'
import { openObjectBucket } from './object-bucket.js'

const storeDir = mkdtempSync(join(tmpdir(), 'bucket-nats-'))
let server: EmbeddedNats
let link: NatsLink
beforeAll(async () => {
  server = await startEmbeddedNats({ storeDir })
  const log = createLogger({ service: 'test', level: 'silent' })
  link = connectNats({ url: server.url, name: 'bucket-test', log })
})
afterAll(async () => {
  await link?.close()
  await server?.stop()
  rmSync(storeDir, { recursive: true, force: true })
})

test('a request that is aborted while NATS disconnects fails, without an unhandled rejection', async () => {
  const connection = await link.ready()
  const bucket = openObjectBucket(
    { ...link, ready: async () => connection },
    { bucket: 'test', description: 'test', maxBytes: -1, replicas: 1 },
  )
  expect(await bucket.get('none', new AbortController().signal)).toBeUndefined()
  await connection.close()
  const unhandled: unknown[] = []
  const note = (reason: unknown) => void unhandled.push(reason)
  process.on('unhandledRejection', note)
  const asker = new AbortController()
  const asked = bucket.get('none', asker.signal)
  asker.abort()
  await expect(asked).rejects.toBe(asker.signal.reason)
  await turn()
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})
