import { once } from 'node:events'
import { get, type IncomingMessage, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { ApiError } from '@opsplane/contracts'
import { createApp, defineStream, type Listening, listen, routeTableRoute } from '@opsplane/http'
import { createLogger, systemClock } from '@opsplane/runtime'
import { freePort } from '@opsplane/runtime/server-process'
import { waitFor } from '@opsplane/testing'
import { z } from 'zod'
import {
  asAda,
  defaultVerify,
  echo,
  startPlatform,
  startUpstream,
  type TestPlatform,
} from '../fixture/platform.js'

/** A feed of the service: the texts it sends, and whether its reader has disconnected. */
interface Feed {
  send(text: string): void
  end(): void
  hasLeft(): boolean
  /** Number of texts requested. */
  asked(): number
}

let platform: TestPlatform
let port: number
let service: Listening
const sockets = new Set<Socket>()
/** Number of requested links, and of feeds requested without a link. */
let [upgrades, plain] = [0, 0]
const feeds = new Map<string, Feed>()
const opened: { close(): void }[] = []
const log = createLogger({ service: 'dispatcher', level: 'silent' })

function feedRoute() {
  return defineStream({
    operationId: 'readFeed',
    path: '/events/topics/:name',
    summary: 'Read a feed',
    tag: 'Test',
    scope: 'authenticated',
    workspace: 'required',
    query: z.object({}),
    line: z.object({}),
    mediaTypes: ['text/event-stream'],
    handler: async ({ params, client }) => {
      if (params.name === 'missing') throw new ApiError('not_found', 'There is no such feed.')
      const waiting: string[] = []
      let wake = () => {}
      let asked = 0
      let hasEnded = false
      feeds.set(params.name, {
        hasLeft: client.hasLeft,
        asked: () => asked,
        send(text) {
          waiting.push(text)
          wake()
        },
        end() {
          hasEnded = true
          wake()
        },
      })
      async function* frames() {
        yield 'begun;'
        while (!hasEnded) {
          const text = waiting.shift()
          if (text === undefined)
            await new Promise<void>((resolve) => {
              wake = resolve
            })
          else {
            asked++
            yield text
          }
        }
      }
      return { frames: frames() }
    },
  })
}

async function startFeeds(): Promise<Listening> {
  const routes = [feedRoute()]
  const app = createApp({
    service: 'dispatcher',
    routes: [...routes, routeTableRoute(routes)],
    verifier: platform.verifierOf('dispatcher'),
    ...{ log, clock: systemClock },
  })
  const listening = await listen(app, { port, host: '127.0.0.1', log })
  const server: Server = listening.server as Server
  server.on('upgrade', () => upgrades++)
  server.on('request', ({ url = '' }) => {
    if (url.startsWith('/events')) plain++
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return listening
}

/** Reads a feed through the gateway. */
async function open(name: string) {
  const request = get(`${platform.url}/api/v1/events/topics/${name}`, { headers: asAda, agent: false })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  let read = ''
  let hasEnded: 'complete' | 'cut' | undefined
  response.setEncoding('utf8')
  response.on('data', (text: string) => {
    read += text
  })
  response.once('end', () => {
    hasEnded ??= 'complete'
  })
  response.on('error', () => {
    hasEnded = 'cut'
  })
  const reader = {
    response,
    read: () => read,
    until: (text: string) =>
      waitFor(() => read.endsWith(text), { message: `${text} after ${read.slice(-100)}` }),
    ended: () => waitFor(() => hasEnded),
    close: () => request.destroy(),
  }
  opened.push(reader)
  return reader
}
const feedOf = (name: string) => waitFor(() => feeds.get(name))

beforeAll(async () => {
  port = await freePort()
  platform = await startPlatform({}, { dispatcher: `http://127.0.0.1:${port}` })
  service = await startFeeds()
})
afterEach(() => {
  for (const each of opened.splice(0)) each.close()
  platform.verify = defaultVerify
  feeds.clear()
})
afterAll(async () => {
  await platform?.stop()
  await service?.close()
})

test('the feeds of many readers share one connection, and each reader receives its own', async () => {
  const names = ['a', 'b', 'c', 'd']
  const readers = await Promise.all(names.map(open))
  expect(readers[0]?.response.headers['content-type']).toBe('text/event-stream; charset=utf-8')
  expect(readers[0]?.response.headers['x-request-id']).toBeDefined()
  for (const name of names) (await feedOf(name)).send(`for ${name};`)
  await Promise.all(readers.map((reader, at) => reader.until(`for ${names[at]};`)))
  expect(readers.map((reader) => reader.read())).toEqual(names.map((name) => `begun;for ${name};`))
  expect([upgrades, plain]).toEqual([1, 0])
  for (const name of names) (await feedOf(name)).end()
  expect(await Promise.all(readers.map((reader) => reader.ended()))).toEqual(names.map(() => 'complete'))
})

test('an error of the service is returned to the reader as usual', async () => {
  const reader = await open('missing')
  await reader.ended()
  expect([reader.response.statusCode, JSON.parse(reader.read()).error.code]).toEqual([404, 'not_found'])
})

test('the service is notified when a reader disconnects', async () => {
  const reader = await open('left')
  await reader.until('begun;')
  const feed = await feedOf('left')
  reader.close()
  await waitFor(() => feed.hasLeft())
})

test('a reader that stops reading is sent no more than the buffer permits, and others continue', async () => {
  const [slow, other] = [await open('slow'), await open('other')]
  await slow.until('begun;')
  slow.response.pause()
  const feed = await feedOf('slow')
  const texts = 200
  for (let n = 0; n < texts; n++) feed.send('x'.repeat(64_000))
  for (let n = 0; n < 3; n++) {
    ;(await feedOf('other')).send(`${n};`)
    await other.until(`${n};`)
  }
  expect(feed.asked()).toBeLessThan(texts)
  slow.response.resume()
  await waitFor(() => feed.asked() === texts)
  feed.send('last;')
  await slow.until('last;')
  expect(slow.read()).toHaveLength('begun;last;'.length + texts * 64_000)
})

test('nothing is forwarded once the reader has lost access', async () => {
  const reader = await open('revoked')
  await reader.until('begun;')
  platform.pass(2_000)
  const feed = await feedOf('revoked')
  feed.send('second;')
  await reader.until('second;')
  platform.verify = () => {
    throw new ApiError('invalid_token', 'It was revoked.')
  }
  platform.pass(2_000)
  feed.send('third;')
  expect([await reader.ended(), reader.read()]).toEqual(['cut', 'begun;second;'])
  await waitFor(() => feed.hasLeft())
})

test('a service that stops ends its feeds completely, and readers that return use another connection', async () => {
  const reader = await open('before')
  await reader.until('begun;')
  const closed = service.close()
  ;(await feedOf('before')).end()
  expect(await reader.ended()).toBe('complete')
  await closed
  service = await startFeeds()
  const again = await open('after')
  await again.until('begun;')
})

test('readers are disconnected when the connection is lost', async () => {
  const reader = await open('lost')
  await reader.until('begun;')
  for (const socket of sockets) socket.destroy()
  expect(await reader.ended()).toBe('cut')
  const again = await open('found')
  await again.until('begun;')
})

test('a service without support for links answers directly', async () => {
  const route = {
    operationId: 'readFeed',
    method: 'get',
    path: '/events/topics/:name',
    permission: null,
  } as const
  const rule = { access: 'workspace', bodyLimitBytes: 0, waits: true, isFeed: true } as const
  const older = await startUpstream(echo, undefined, [{ ...route, ...rule }])
  const before = await startPlatform({}, { dispatcher: older.url })
  try {
    const response = await fetch(`${before.url}/api/v1/events/topics/news`, { headers: asAda })
    expect(response.status).toBe(200)
    expect(((await response.json()) as { data: { url: string } }).data.url).toBe('/events/topics/news')
  } finally {
    await before.stop()
    await older.close()
  }
})
