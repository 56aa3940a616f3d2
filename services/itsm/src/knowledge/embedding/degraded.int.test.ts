import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals'
import { KnowledgeResults } from '@opsplane/contracts'
import {
  type Receiver,
  type ReceiverResponse,
  startReceiver,
  startTestService,
  type TestService,
  waitFor,
} from '@opsplane/testing'
import { drizzle } from 'drizzle-orm/postgres-js'
import { itsm } from '../../service.js'
import { knowledgeTeam } from '../knowledge.fixture.js'
import { embeddingIndexes } from './embedding-index.js'

const key = 'sk-of-the-test'
let service: TestService
let endpoint: Receiver
let team: ReturnType<typeof knowledgeTeam>
let now = Date.parse('2026-03-02T10:00:00.000Z')
let answer: (texts: string[]) => ReceiverResponse
/** Long enough that a search gets its vector even on a busy machine. Only the test of slowness sets a short timeout. */
const longMs = 50_000
const searchTimeouts = { embeddingMs: longMs }

/** Vectors with two meanings: drinks and everything else. */
const meaning = (text: string) => (/coffee|tea|espresso|beverage/i.test(text) ? [1, 0.1] : [0.1, 1])
const answerWith = (vector: (text: string) => number[]) => (texts: string[]) => ({
  status: 200,
  body: JSON.stringify({ data: texts.map((text, index) => ({ index, embedding: vector(text) })).reverse() }),
})
const well = answerWith(meaning)

beforeAll(async () => {
  endpoint = await startReceiver({
    tls: false,
    respond: ({ rawBody }) => answer((JSON.parse(rawBody.toString('utf8')) as { input: string[] }).input),
  })
  service = await startTestService(itsm, {
    overrides: { clock: { now: () => new Date(now).toISOString() }, searchTimeouts },
    env: {
      EMBEDDINGS_URL: `${endpoint.url}/v1`,
      EMBEDDINGS_MODEL: 'two-meanings',
      EMBEDDINGS_API_KEY: key,
      EMBEDDINGS_ALLOWED_CIDRS: '127.0.0.0/8',
    },
  })
})
afterAll(async () => {
  await service?.stop()
  await endpoint?.stop()
})

/** Publishes articles in a separate workspace. The breaker is closed again by then. */
beforeEach(async () => {
  answer = well
  searchTimeouts.embeddingMs = longMs
  now += 60_000
  team = knowledgeTeam(service)
  await team.publish({ title: 'Coffee on floor 2', body: 'Fill in beans.' })
  for (let floor = 0; floor < 8; floor++)
    await team.publish({ title: `Lamp ${floor}`, body: 'Change the bulb of the lamp.' })
  await embedded(9)
})

const embedded = (articles: number) =>
  waitFor(async () => {
    const [row] = await service.sql`select count(*)::int as n from knowledge_chunks
      where workspace_id = ${team.principal.workspaceId ?? ''} and vector is not null`
    return row?.n === articles
  })
const search = async (query = 'beverage') =>
  (await team.reader.post('/knowledge/search', { query })).data(KnowledgeResults)

it('finds articles by meaning through an OpenAI-compatible request', async () => {
  const { results, ...how } = await search()
  expect(how).toEqual({ searchMode: 'hybrid', degraded: null })
  expect(results[0]).toMatchObject({ title: 'Coffee on floor 2', ranks: { text: null, vector: 1 } })
  const request = endpoint.received().at(-1)
  expect([request?.method, request?.path]).toEqual(['POST', '/v1/embeddings'])
  expect(request?.headers.authorization).toBe(`Bearer ${key}`)
  expect(JSON.parse(request?.rawBody.toString() ?? '')).toMatchObject({
    model: 'two-meanings',
    input: ['beverage'],
  })
})

it('applies exclusions to the vector leg, and sends no request for a query of exclusions only', async () => {
  await team.publish({ title: 'Espresso', body: 'In the kitchen.' })
  await embedded(10)
  const titles = async (query: string) => (await search(query)).results.map(({ title }) => title)
  expect((await titles('beverage')).slice(0, 2).sort()).toEqual(['Coffee on floor 2', 'Espresso'])
  expect(await titles('beverage -kitchen')).toEqual(['Coffee on floor 2'])
  expect(JSON.parse(endpoint.received().at(-1)?.rawBody.toString() ?? '').input).toEqual(['beverage'])
  const asked = endpoint.received().length
  expect(await titles('-coffee')).toEqual([])
  expect(endpoint.received()).toHaveLength(asked)
})

it('uses the vectors of a new article after a similar one was retired', async () => {
  const [coffee] = (await search()).results
  await team.author.post(`/knowledge/${coffee?.id}/retire`)
  const { id } = await team.publish({ title: 'Tea on floor 2' })
  await waitFor(async () => {
    const rows = await service.sql`select article_id from knowledge_chunks
      where article_id in (${coffee?.id ?? ''}, ${id}) and vector is not null`
    return rows.length === 1 && rows[0]?.article_id === id
  })
  expect((await search()).results[0]).toMatchObject({ id, ranks: { text: null, vector: 1 } })
})

it('applies visibility and filters to the vector leg', async () => {
  await team.publish({ title: 'Espresso', body: 'Inside.', visibility: 'internal', category: 'kitchen' })
  await embedded(10)
  const ranked = async (client: typeof team.reader, filters: object) => {
    const reply = await client.post('/knowledge/search', { query: 'beverage', filters })
    return reply.data(KnowledgeResults).results.map(({ title }) => title)
  }
  expect(await ranked(team.reader, { category: 'kitchen' })).toEqual([])
  expect(await ranked(team.author, { category: 'kitchen' })).toEqual(['Espresso'])
  expect(await ranked(service.as({ ...team.principal, environment: 'staging' }), {})).toEqual([])
  expect(await ranked(knowledgeTeam(service).author, {})).toEqual([])
})

it.each<[string, () => ReceiverResponse, string, number]>([
  ['refuses', () => ({ status: 503 }), 'embeddings_refused', longMs],
  ['answers nonsense', () => ({ status: 200, body: '{"data":[]}' }), 'embeddings_bad_answer', longMs],
  ['is slower than a search may be', () => ({ ...well(['']), delayMs: 60_000 }), 'embeddings_timeout', 100],
  [
    'has changed the length of its vectors',
    () => answerWith(() => [1, 2, 3])(['']),
    'embeddings_dimensions',
    longMs,
  ],
])('falls back to lexical search when the endpoint %s', async (_, given, reason, embeddingMs) => {
  answer = given
  searchTimeouts.embeddingMs = embeddingMs
  const { results, ...how } = await search('coffee beans')
  expect(how).toEqual({ searchMode: 'lexical', degraded: reason })
  expect(results[0]?.title).toBe('Coffee on floor 2')
})

it('pauses requests after consecutive failures, and resumes them later', async () => {
  answer = () => ({ status: 500 })
  for (let attempt = 0; attempt < 3; attempt++) expect((await search()).degraded).toBe('embeddings_refused')
  const asked = endpoint.received().length
  expect(await search()).toMatchObject({ searchMode: 'lexical', degraded: 'embeddings_paused' })
  expect(endpoint.received()).toHaveLength(asked)
  answer = well
  now += 31_000
  expect((await search()).searchMode).toBe('hybrid')
})

it('embeds articles published during an outage once the endpoint recovers', async () => {
  answer = () => ({ status: 500 })
  const { id } = await team.publish({ title: 'Tea on floor 3' })
  await waitFor(async () => {
    const [row] = await service.sql`select last_error from knowledge_chunks where article_id = ${id}`
    return row?.last_error === 'It answered with status 500.'
  })
  answer = well
  now += 3_000
  await embedded(10)
  expect(
    (await search()).results
      .map(({ title }) => title)
      .slice(0, 2)
      .sort(),
  ).toEqual(['Coffee on floor 2', 'Tea on floor 3'])
})

it('embeds the other chunks if the endpoint rejects one', async () => {
  let together = 0
  answer = (texts) => {
    if (!texts.some((text) => text.includes('unspeakable'))) return well(texts)
    if (texts.length > 1) together++
    return { status: 422 }
  }
  const { id } = await team.publish({ title: 'The unspeakable' })
  for (let floor = 0; floor < 5; floor++) await team.publish({ title: `Tap ${floor}`, body: 'Water.' })
  await embedded(14)
  const failures = async () => {
    const [row] = await service.sql`select failures from knowledge_chunks where article_id = ${id}`
    return row?.failures
  }
  await waitFor(async () => (await failures()) === 1)
  const before = together
  now += 600_000
  await waitFor(async () => (await failures()) === 2)
  expect(together).toBe(before)
})

it('embeds only the changed chunks of a new version, and none of a retired article', async () => {
  const paragraphs = ['espresso ', 'tea '].map((word) => word.repeat(200).trim())
  const { id } = await team.publish({ title: 'Long', body: paragraphs.join('\n\n') })
  await embedded(11)
  const before = endpoint.received().length
  await team.author.patch(`/knowledge/${id}`, { body: [paragraphs[0], 'milk'].join('\n\n') })
  await team.author.post(`/knowledge/${id}/submit`)
  await team.reviewer.post(`/knowledge/${id}/approve`)
  await waitFor(async () => {
    const rows = await service.sql`select 1 from knowledge_chunks c join knowledge_published p
      on p.id = c.article_id and p.version = c.source_version where c.article_id = ${id} and vector is null`
    return rows.length === 0 && endpoint.received().length > before
  })
  await team.author.post(`/knowledge/${id}/retire`)
  // The chunks of retired articles are deleted with the next publication.
  await team.publish({ title: 'Another' })
  await waitFor(async () => {
    const rows = await service.sql`select 1 from knowledge_chunks where article_id = ${id}`
    return rows.length === 0
  })
})

it('reads vectors once while nothing changes, even if they exceed the cache size', async () => {
  const { workspaceId = '', environment = 'production' } = team.principal
  const indexes = embeddingIndexes(drizzle(service.sql), 'two-meanings', 100)
  const read = await indexes.of({ workspaceId, environment })
  expect(read?.bytes).toBeGreaterThan(100)
  expect(await indexes.of({ workspaceId, environment })).toBe(read)
})
