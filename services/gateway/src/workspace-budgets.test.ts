import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { waitFor } from '@opsplane/testing'
import { ada, asAda, call, defaultVerify, startPlatform, type TestPlatform } from './fixture/platform.js'

let platform: TestPlatform
let answerAll: () => void
let held: number

beforeEach(() => {
  held = 0
  answerAll = () => undefined
})
afterEach(async () => {
  answerAll()
  await platform.stop()
})

async function start(limits: Record<string, number>) {
  platform = await startPlatform({ limits, workspaceLimits: { ws_other: { openPolls: 100 } } })
  platform.verify = (question) => {
    const { token, workspace } = question
    if (workspace !== 'other') return { ...defaultVerify(question), tokenId: token }
    return { ...ada, tokenId: token, workspaceId: 'ws_other', workspaceSlug: 'other' }
  }
  const waiting: (() => void)[] = []
  answerAll = () => {
    for (const answer of waiting.splice(0)) answer()
  }
  platform.dispatcher.handler = (_request, response) => {
    held++
    waiting.push(() => response.end('{"data":{}}'))
  }
}

const poll = (headers: Record<string, string> = asAda, init: RequestInit = {}) =>
  call(`${platform.url}/api/v1/events/topics/builds/events`, { headers, ...init })
const limitOf = ({ body }: Awaited<ReturnType<typeof poll>>) => body.error?.details

test.each([
  ['openPolls', asAda],
  ['openPollsPerKey', { ...asAda, 'X-Workspace': 'other' }],
])('a workspace and a key have a limited number of open polls: %s', async (limit, headers) => {
  await start({ [limit]: 3 })
  const open = Array.from({ length: 3 }, () => poll(headers))
  await waitFor(() => held === 3)
  const refused = await poll(headers)
  expect(refused).toMatchObject({ status: 429, code: 'rate_limited' })
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(limitOf(refused)).toMatchObject([{ code: 'limit_reached', params: { limit, max: 3 } }])
  const others = { ...asAda, 'X-Workspace': 'other', Authorization: 'Bearer good-other' }
  const other = poll(others)
  await waitFor(() => held === 4)
  answerAll()
  expect((await Promise.all([...open, other])).map(({ status }) => status)).toEqual([200, 200, 200, 200])
  const next = poll(headers)
  await waitFor(() => held === 5)
  answerAll()
  expect((await next).status).toBe(200)
})

test.each([
  ['requestsInFlight', asAda],
  ['requestsInFlightPerKey', { ...asAda, 'X-Workspace': 'other' }],
])(
  'a workspace and a key have a limited number of requests in flight, over all connections: %s',
  async (limit, headers) => {
    await start({ [limit]: 3 })
    platform.itsm.handler = platform.dispatcher.handler
    const get = (as: Record<string, string>) => call(`${platform.url}/api/v1/itsm/incidents`, { headers: as })
    const underWay = Array.from({ length: 3 }, () => get(headers))
    await waitFor(() => held === 3)
    const refused = await get(headers)
    expect(refused).toMatchObject({ status: 429, code: 'rate_limited' })
    expect(limitOf(refused)).toMatchObject([{ params: { limit, max: 3 } }])
    const waiting = poll(headers)
    const other = get({ ...asAda, 'X-Workspace': 'other', Authorization: 'Bearer good-other' })
    await waitFor(() => held === 5)
    answerAll()
    const answers = await Promise.all([...underWay, waiting, other])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    const next = get(headers)
    await waitFor(() => held === 6)
    answerAll()
    expect((await next).status).toBe(200)
  },
)

test('a client that disconnects from a poll may open another', async () => {
  await start({ openPolls: 1 })
  const leaving = new AbortController()
  const left = poll(asAda, { signal: leaving.signal }).catch(() => null)
  await waitFor(() => held === 1)
  leaving.abort()
  await left
  await waitFor(async () => {
    const before = held
    const trying = poll()
    await Promise.race([trying, waitFor(() => held > before)])
    answerAll()
    return (await trying).status === 200
  })
})

test('a workspace has a limited number of requests per minute, over all callers', async () => {
  await start({ workspaceRequestsPerMinute: 2 })
  const get = (token: string) =>
    call(`${platform.url}/api/v1/itsm/incidents`, { headers: { ...asAda, Authorization: `Bearer ${token}` } })
  expect((await get('good-1')).status).toBe(200)
  expect((await get('good-2')).status).toBe(200)
  const refused = await get('good-3')
  expect(refused.status).toBe(429)
  expect(limitOf(refused)).toMatchObject([{ params: { limit: 'workspaceRequestsPerMinute', max: 2 } }])
})

test('a workspace has a limited number of body bytes in flight', async () => {
  await start({ requestBytesInFlight: 10_000 })
  const waiting: (() => void)[] = []
  platform.itsm.handler = (request, response) => {
    request.resume()
    waiting.push(() => response.end('{"data":{}}'))
  }
  const post = (bytes: number) =>
    call(`${platform.url}/api/v1/itsm/incidents`, { method: 'POST', headers: asAda, body: 'x'.repeat(bytes) })
  const first = post(8_000)
  await waitFor(() => waiting.length === 1)
  const refused = await post(3_000)
  expect(refused.status).toBe(429)
  expect(limitOf(refused)).toMatchObject([{ params: { limit: 'requestBytesInFlight', max: 10_000 } }])
  for (const answer of waiting.splice(0)) answer()
  expect((await first).status).toBe(200)
  const next = post(3_000)
  await waitFor(() => waiting.length === 1)
  for (const answer of waiting.splice(0)) answer()
  expect((await next).status).toBe(200)
})
