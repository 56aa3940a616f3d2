import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { natsNames } from '@opsplane/contracts'
import { createLogger } from '@opsplane/runtime'
import { ForeignStreamError } from './errors.js'
import { connectNats, type NatsLink } from './link.js'
import { streamLog } from './stream-log.js'
import { claimStream, markStreams } from './stream-owner.js'
import { ensureStreams } from './streams.js'
import { waitFor } from './wait-for.fixture.js'

const url = String(process.env.TEST_NATS_URL)
const uniquePrefix = () => `owner${randomBytes(6).toString('hex')}`

const log = createLogger({ service: 'test', level: 'silent' })
let link: NatsLink
beforeAll(() => {
  link = connectNats({ url, name: 'stream-owner', log })
})
afterAll(() => link.close())

const ensure = (names: ReturnType<typeof natsNames>, installationId?: string) =>
  ensureStreams(link, names, { storage: 'memory', installationId })

test('streams belong to the installation that created them, and no other publishes or consumes there', async () => {
  const names = natsNames(uniquePrefix())
  await ensure(names, 'aaaaaa')
  await ensure(names, 'aaaaaa')
  await expect(ensure(names, 'bbbbbb')).rejects.toThrow(ForeignStreamError)

  const said: string[] = []
  const watching = createLogger({
    service: 'test',
    level: 'error',
    destination: { write: (line: string) => said.push(line) },
  })
  const foreign = connectNats({ url, name: 'foreign', log: watching, admit: claimStream(names, 'bbbbbb') })
  await waitFor(() => said.length > 0)
  expect(said.join()).toContain('belongs to installation aaaaaa, and this is installation bbbbbb')
  expect(foreign.connected()).toBe(false)
  // It is admitted once it owns the streams.
  const marked = await markStreams(await link.ready(), names, 'bbbbbb', true)
  expect(marked).toEqual([names.eventsStream, names.topicsStream])
  await foreign.ready()
  await foreign.close()
  await expect(ensure(names, 'aaaaaa')).rejects.toThrow('opsplane adopt --streams')
})

test('an unmarked stream is marked, and keeps its identity', async () => {
  const names = natsNames(uniquePrefix())
  await ensure(names)
  const identity = await streamLog(link, names.topicsStream).identity()
  await ensure(names, 'aaaaaa')
  await markStreams(await link.ready(), names, 'aaaaaa', false)
  expect(await streamLog(link, names.topicsStream).identity()).toBe(identity)
  await expect(markStreams(await link.ready(), names, 'bbbbbb', false)).rejects.toThrow(ForeignStreamError)
  expect(await markStreams(await link.ready(), names, 'aaaaaa', false)).toEqual([])
})
