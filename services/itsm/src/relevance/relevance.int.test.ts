import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { KnowledgeResults } from '@opsplane/contracts'
import {
  isLongTier,
  type Receiver,
  startReceiver,
  startTestService,
  type TestService,
  waitFor,
} from '@opsplane/testing'
import { knowledgeTeam } from '../knowledge/knowledge.fixture.js'
import { itsm } from '../service.js'
import { modelVectors } from './model-vectors.fixture.js'
import { loadRelevanceSet, ndcgAt10, queryKinds, type Scores, scoreRelevance } from './relevance-set.js'

interface Measured {
  service: TestService
  team: ReturnType<typeof knowledgeTeam>
  /** Maps ids of the service to ids of the set. */
  names: Map<string, string>
}

let endpoint: Receiver
/** Measured only in the long tier; it differs in the vectors returned by the endpoint. */
let withEndpoint: Measured | undefined
let withModel: Measured
const { articles, queries } = loadRelevanceSet()
/** Long enough for a busy machine, so that the vectors are measured rather than the timing. */
const searchTimeouts = { embeddingMs: 50_000 }

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
  if (isLongTier())
    withEndpoint = await start({
      EMBEDDINGS_URL: endpoint.url,
      EMBEDDINGS_MODEL: model,
      EMBEDDINGS_ALLOWED_CIDRS: '127.0.0.0/8',
    })
  withModel = await start({ EMBEDDINGS_LOCAL: 'true' })
})
afterAll(async () => {
  await withEndpoint?.service.stop()
  await withModel?.service.stop()
  await endpoint?.stop()
})

async function start(env: Record<string, string>): Promise<Measured> {
  const service = await startTestService(itsm, { overrides: { searchTimeouts }, env })
  const team = knowledgeTeam(service)
  const names = new Map<string, string>()
  for (const { id, ...fields } of articles) names.set((await team.publish(fields)).id, id)
  await waitFor(async () => {
    const [row] =
      await service.sql`select count(distinct article_id) as n from knowledge_chunks where vector is not null`
    return Number(row?.n) === articles.length
  })
  return { service, team, names }
}

const resultsOf = async ({ team }: Measured, query: string, mode: 'lexical' | 'hybrid') =>
  (await team.reader.post('/knowledge/search', { query, mode })).data(KnowledgeResults)

const scoresOf = (measured: Measured, mode: 'lexical' | 'hybrid'): Promise<Scores> =>
  scoreRelevance(queries, async (query) => {
    const { results } = await resultsOf(measured, query, mode)
    return results.map(({ id }) => measured.names.get(id) ?? id)
  })

it('the relevance set has the documented size, and refers only to existing articles', () => {
  const ids = new Set(articles.map(({ id }) => id))
  expect(ids.size).toBe(articles.length)
  expect(articles.length).toBeGreaterThanOrEqual(60)
  expect(queries.length).toBeGreaterThanOrEqual(40)
  for (const { relevant } of queries) for (const id of Object.keys(relevant)) expect(ids).toContain(id)
})

it('the relevance set has paraphrases that share no word with the best article', async () => {
  const paraphrases = queries.filter(({ kind }) => kind === 'paraphrase')
  expect(paraphrases.length).toBeGreaterThanOrEqual(12)
  const shared: string[] = []
  for (const { query, relevant } of paraphrases) {
    for (const [id] of Object.entries(relevant).filter(([, grade]) => grade === 3)) {
      const stored = [...withModel.names].find(([, name]) => name === id)?.[0] ?? ''
      const [row] = await withModel.service.sql`
        select array(select unnest(tsvector_to_array(to_tsvector('english', ${query})))
          intersect select unnest(tsvector_to_array(search))) as words
        from knowledge_published where id = ${stored}`
      if (row?.words.length > 0) shared.push(`${query}: ${row?.words}`)
    }
  }
  expect(shared).toEqual([])
})

it('computes nDCG from the order of results', () => {
  expect(ndcgAt10(['a', 'b'], { a: 3, b: 1 })).toBe(1)
  expect(ndcgAt10(['b', 'a'], { a: 3, b: 1 })).toBeLessThan(1)
  expect(ndcgAt10(['x'], { a: 3 })).toBe(0)
})

it('hybrid search finds paraphrases by meaning, and ranks all other queries at least like lexical search', async () => {
  const lexical = await scoresOf(withModel, 'lexical')
  const embedded = await scoresOf(withModel, 'hybrid')
  const remote = withEndpoint && (await scoresOf(withEndpoint, 'hybrid'))
  const line = (name: string, scores: Scores) =>
    `${name}: ${Object.entries(scores)
      .map(([kind, score]) => `${kind} ${score.toFixed(3)}`)
      .join(', ')}\n`
  process.stdout.write(
    `nDCG@10\n${line('lexical', lexical)}${line('embedded model', embedded)}${remote ? line('embeddings endpoint', remote) : ''}`,
  )
  expect(lexical.all).toBeGreaterThan(0.4)
  expect(embedded.paraphrase).toBeGreaterThanOrEqual(0.5)
  for (const kind of queryKinds) {
    expect([kind, embedded[kind] >= lexical[kind]]).toEqual([kind, true])
    if (remote) expect([kind, remote[kind] >= lexical[kind] - 0.05]).toEqual([kind, true])
  }
})

const inOtherLanguages = [
  [
    'de',
    'Der Drucker druckt nicht',
    'Papierstau entfernen und den Toner prüfen.',
    'Drucker druckt nicht mehr',
  ],
  ['de', 'Passwort zurücksetzen', 'Im Portal unter Konto.', 'Wie kann ich mein Passwort zurücksetzen?'],
  ['fr', 'Imprimante hors ligne', "Redémarrer le service d'impression.", 'mon imprimante est hors ligne'],
  ['es', 'La impresora no imprime', 'Reinicie la cola de impresión.', 'la impresora no funciona'],
  ['pt', 'Redefinir a senha', 'No portal da conta.', 'como posso redefinir minha senha'],
  ['nl', 'Printer doet het niet', 'Verwijder het vastgelopen papier.', 'waarom doet mijn printer het niet'],
  ['pl', 'Drukarka nie działa', 'Usuń zacięty papier.', 'drukarka nie działa'],
  ['ru', 'Принтер не печатает', 'Удалите застрявшую бумагу.', 'почему принтер не печатает'],
] as const

it('queries in languages unknown to the model are ranked as in lexical search', async () => {
  const ids: string[] = []
  for (const [language, title, body] of inOtherLanguages)
    ids.push((await withModel.team.publish({ title, body, language })).id)
  for (const [at, [language, , , query]] of inOtherLanguages.entries()) {
    const [lexical, hybrid] = [
      await resultsOf(withModel, query, 'lexical'),
      await resultsOf(withModel, query, 'hybrid'),
    ]
    const order = ({ results }: KnowledgeResults) => results.map(({ id }) => id)
    expect([language, order(hybrid)]).toEqual([language, order(lexical)])
    expect([language, hybrid.results[0]?.id, hybrid.degraded]).toEqual([
      language,
      ids[at],
      'embeddings_language',
    ])
  }
  const rows = await withModel.service.sql`select 1 from knowledge_chunks where article_id = any(${ids})`
  expect(rows).toHaveLength(0)
})
