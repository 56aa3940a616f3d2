import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { KnowledgeResults } from '@opsplane/contracts'
import { type Receiver, startReceiver, startTestService, type TestService, waitFor } from '@opsplane/testing'
import { knowledgeTeam } from '../knowledge/knowledge.fixture.js'
import { itsm } from '../service.js'
import { modelVectors } from './model-vectors.js'
import { loadRelevanceSet, measure, ndcgAt10, type Scores } from './relevance-set.js'

let service: TestService
let endpoint: Receiver
let team: ReturnType<typeof knowledgeTeam>
const { articles, queries } = loadRelevanceSet()
/** Of the set, by the id in the service. */
const names = new Map<string, string>()
/** However busy the machine is, what is measured are the vectors and not who was in time. */
const searchPatience = { embeddingMs: 50_000 }

beforeAll(async () => {
  const { model, vectorOf } = modelVectors()
  endpoint = await startReceiver({
    tls: false,
    respond: ({ rawBody }) => {
      const { input } = JSON.parse(rawBody.toString('utf8')) as { input: string[] }
      const data = input.map((text, index) => ({ index, embedding: vectorOf(text) }))
      return { status: 200, body: JSON.stringify({ data }) }
    },
  })
  service = await startTestService(itsm, {
    overrides: { searchPatience },
    env: {
      EMBEDDINGS_URL: endpoint.url,
      EMBEDDINGS_MODEL: model,
      EMBEDDINGS_ALLOWED_CIDRS: '127.0.0.0/8',
    },
  })
  team = knowledgeTeam(service)
  for (const { id, ...fields } of articles) names.set((await team.publish(fields)).id, id)
  await waitFor(async () => {
    const [row] =
      await service.sql`select count(distinct article_id) as n from knowledge_chunks where vector is not null`
    return Number(row?.n) === articles.length
  })
})
afterAll(async () => {
  await service?.stop()
  await endpoint?.stop()
})

const scoresOf = (mode: 'lexical' | 'hybrid', searchMode: string): Promise<Scores> =>
  measure(queries, async (query) => {
    const reply = await team.reader.post('/knowledge/search', { query, mode })
    const { results, ...how } = reply.data(KnowledgeResults)
    expect(how.searchMode).toBe(searchMode)
    return results.map(({ id }) => names.get(id) ?? id)
  })

it('is a set of the promised size, whose answers exist', () => {
  const ids = new Set(articles.map(({ id }) => id))
  expect(ids.size).toBe(articles.length)
  expect(articles.length).toBeGreaterThanOrEqual(60)
  expect(queries.length).toBeGreaterThanOrEqual(40)
  for (const { relevant } of queries) for (const id of Object.keys(relevant)) expect(ids).toContain(id)
})

it('has paraphrases that share no word with the article they ask for', async () => {
  const paraphrases = queries.filter(({ kind }) => kind === 'paraphrase')
  expect(paraphrases.length).toBeGreaterThanOrEqual(12)
  const shared: string[] = []
  for (const { query, relevant } of paraphrases) {
    for (const [id] of Object.entries(relevant).filter(([, grade]) => grade === 3)) {
      const stored = [...names].find(([, name]) => name === id)?.[0] ?? ''
      const [row] = await service.sql`
        select array(select unnest(tsvector_to_array(to_tsvector('english', ${query})))
          intersect select unnest(tsvector_to_array(search))) as words
        from knowledge_published where id = ${stored}`
      if (row?.words.length > 0) shared.push(`${query}: ${row?.words}`)
    }
  }
  expect(shared).toEqual([])
})

it('gains from ranks as it should', () => {
  expect(ndcgAt10(['a', 'b'], { a: 3, b: 1 })).toBe(1)
  expect(ndcgAt10(['b', 'a'], { a: 3, b: 1 })).toBeLessThan(1)
  expect(ndcgAt10(['x'], { a: 3 })).toBe(0)
})

it('ranks well in each mode, and meaning helps where words do not', async () => {
  const lexical = await scoresOf('lexical', 'lexical')
  const embeddings = await scoresOf('hybrid', 'hybrid')
  const line = (name: string, scores: Scores) =>
    `${name}: ${Object.entries(scores)
      .map(([kind, score]) => `${kind} ${score.toFixed(3)}`)
      .join(', ')}\n`
  process.stdout.write(`nDCG@10\n${line('lexical', lexical)}${line('embeddings endpoint', embeddings)}`)
  expect(lexical.all).toBeGreaterThan(0.4)
  expect(embeddings.all).toBeGreaterThan(0.5)
  expect(embeddings.paraphrase).toBeGreaterThanOrEqual(lexical.paraphrase)
})
