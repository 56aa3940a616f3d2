import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Article, KnowledgeResults } from '@opsplane/contracts'
import { type ApiClient, startTestService, type TestService } from '@opsplane/testing'
import { itsm } from '../../service.js'
import { knowledgeTeam } from '../knowledge.fixture.js'

let service: TestService
let team: ReturnType<typeof knowledgeTeam>

/** Articles that none of the queries below match. */
const filler = Array.from({ length: 10 }, (_, index) => ({
  title: `Coffee machine ${index % 2 === 0 ? 'descaling' : 'beans'} on floor ${index}`,
  body: 'Fill the tank with water, choose the programme, wait until the lamp is green and rinse it twice.',
}))

beforeAll(async () => {
  service = await startTestService(itsm)
  team = knowledgeTeam(service)
  for (const fields of filler) await team.publish(fields)
})
afterAll(() => service?.stop())

const search = async (client: ApiClient, query: string, more: object = {}): Promise<KnowledgeResults> =>
  (await client.post('/knowledge/search', { query, ...more })).data(KnowledgeResults)
const titles = async (client: ApiClient, query: string, more?: object) =>
  (await search(client, query, more)).results.map(({ title }) => title)

describe('the search legs', () => {
  it('rank matching identifiers first, however often the words of the query match elsewhere', async () => {
    const wanted = await team.publish({
      title: 'Shared mailbox',
      body: 'Outlook answers AADSTS50126 after a change of the password.',
      sourceIncidentId: 'INC-4711',
    })
    await team.publish({ title: 'Outlook error', body: 'Outlook error, Outlook error, sign in to Outlook.' })
    for (const query of ['Outlook error aadsts50126', 'outlook error INC-4711', `outlook ${wanted.number}`]) {
      const { results } = await search(team.reader, query)
      expect(results[0]).toMatchObject({ id: wanted.id, ranks: { exact: 1 } })
    }
  })

  it('find inflected and accented words, and rank matches of all words above partial matches', async () => {
    await team.publish({ title: 'Résumé templates', body: 'Printing certificates on the plotter.' })
    expect(await titles(team.reader, 'resume template')).toContain('Résumé templates')
    expect(await titles(team.reader, 'printed certificate plotters')).toEqual(
      expect.arrayContaining(['Résumé templates']),
    )
    await team.publish({ title: 'Passwörter zurücksetzen', body: 'Über das Portal.', language: 'de' })
    expect(await titles(team.reader, 'Passwort zurückgesetzt', { filters: { language: 'de' } })).toEqual([
      'Passwörter zurücksetzen',
    ])
  })

  it('find misspelled words', async () => {
    await team.publish({ title: 'Kubernetes namespaces', body: 'Ask the platform team.' })
    const { results } = await search(team.reader, 'kuberentes namepsaces', { mode: 'lexical' })
    expect(results[0]).toMatchObject({ title: 'Kubernetes namespaces', ranks: { text: null, trigram: 1 } })
  })

  it('accept any text as a query', async () => {
    for (const query of [
      "'",
      '"',
      '\\',
      ':*',
      '& |',
      '!!',
      '((',
      '%_',
      'the of and',
      '🙂',
      'a'.repeat(500),
      '<b>',
    ]) {
      const reply = await team.reader.post('/knowledge/search', { query })
      expect([query, reply.status]).toEqual([query, 200])
    }
  })
})

describe('no search leg returns articles', () => {
  // A query that matches in every leg.
  const query = 'zeppelin ZEP-100 zepelin'
  const secret = { title: 'Zeppelin ZEP-100', body: 'Zeppelin mooring.', category: 'air', tags: ['balloon'] }
  const found = async (client: ApiClient, more?: object) =>
    (await search(client, query, more)).results.map(({ ranks }) => ranks)

  it('of another workspace or environment', async () => {
    const own = knowledgeTeam(service)
    await own.publish(secret)
    const [ranks] = await found(own.reader)
    expect(ranks).toMatchObject({ exact: 1, text: 1, trigram: 1 })
    expect(await found(team.reader)).toEqual([])
    const staging = service.as({ ...own.principal, environment: 'staging' })
    expect(await found(staging)).toEqual([])
  })

  it('that are expired, retired or unpublished, or internal for readers', async () => {
    const own = knowledgeTeam(service)
    for (const fields of filler) await own.publish(fields)
    const internal = await own.publish({ ...secret, visibility: 'internal' })
    expect(await found(own.reader)).toEqual([])
    expect(await found(own.author)).toHaveLength(1)
    await own.author.post(`/knowledge/${internal.id}/retire`)
    expect(await found(own.author)).toEqual([])
    await own.publish({ ...secret, validUntil: '2020-01-01T00:00:00Z' })
    await own.author.post('/knowledge', secret)
    expect(await found(own.reader)).toEqual([])
  })

  it('of another category, tag or language', async () => {
    const own = knowledgeTeam(service)
    await own.publish(secret)
    for (const filters of [{ category: 'air' }, { tag: 'balloon' }, { language: 'en' }])
      expect(await found(own.reader, { filters })).toHaveLength(1)
    for (const filters of [{ category: 'sea' }, { tag: 'ship' }, { language: 'de' }])
      expect(await found(own.reader, { filters })).toEqual([])
  })
})

it('searches the published version until the next one is approved', async () => {
  const own = knowledgeTeam(service)
  const { id } = await own.publish({ title: 'Old wording', body: 'xylophone' })
  await own.author.patch(`/knowledge/${id}`, { body: 'vuvuzela' })
  await own.author.post(`/knowledge/${id}/submit`)
  expect(await titles(own.author, 'xylophone')).toEqual(['Old wording'])
  expect(await titles(own.author, 'vuvuzela')).toEqual([])
  await own.reviewer.post(`/knowledge/${id}/approve`)
  expect(await titles(own.author, 'xylophone')).toEqual([])
  expect((await search(own.author, 'vuvuzela')).results[0]).toMatchObject({ articleVersion: 2 })
})

it('finds no article with an excluded word, in any leg and language', async () => {
  const own = knowledgeTeam(service)
  for (const fields of filler) await own.publish(fields)
  await own.publish({
    title: 'Plotter stalls',
    body: 'The plotter failed with ERR-4711 again. Call facilities.',
  })
  await own.publish({ title: 'Plotter colours', body: 'Choose the colours of the plotter.' })
  await own.publish({ title: 'Der Plotter', body: 'Tinte für den Plotter bestellen.', language: 'de' })
  const without = async (query: string) => new Set(await titles(own.reader, query))
  expect(await without('plotter')).toEqual(new Set(['Plotter stalls', 'Plotter colours', 'Der Plotter']))
  const others = new Set(['Plotter colours', 'Der Plotter'])
  // Only English stems `failing`.
  for (const exclusion of ['-failing', '(-failing)', '-"call facilities"', '-ERR-4711'])
    expect([exclusion, await without(`plotter ${exclusion}`)]).toEqual([exclusion, others])
  expect(await without('plotter -tinte')).toEqual(new Set(['Plotter stalls', 'Plotter colours']))
  expect(await without('-plotter')).toEqual(new Set())
  expect(await without('plotter --failing')).toContain('Plotter stalls')
})

it('highlights matches and escapes the markup of articles', async () => {
  const own = knowledgeTeam(service)
  await own.publish({
    title: '<img src=x onerror=alert(1)> firewall',
    body: 'Open the firewall <script>alert("x")</script> & \uE000restart\uE001 it. </mark><b>bold</b>',
  })
  const [hit] = (await search(own.reader, 'firewall')).results
  const { title, body } = hit?.highlights ?? { title: '', body: '' }
  expect(title).toContain('<mark>firewall</mark>')
  expect(body).toContain('<mark>firewall</mark>')
  for (const html of [title, body]) expect(html.replaceAll(/<\/?mark>/g, '')).not.toMatch(/[<>]/)
  expect(body.match(/<mark>/g)).toHaveLength(1)
  expect(body.match(/<\/mark>/g)).toHaveLength(1)
  expect(hit?.snippet).toContain('Open the firewall')
})

it('highlights words with accents for queries with and without accents', async () => {
  const own = knowledgeTeam(service)
  await own.publish({ title: "L'été à Größe, \\résumé", body: 'Der Résumé-Ordner. Ohne.', language: 'en' })
  const marked = async (query: string) => (await search(own.reader, query)).results[0]?.highlights.title
  const [summer, size, summary] = ['<mark>été</mark>', '<mark>Größe</mark>', '<mark>résumé</mark>']
  expect(await marked('ete')).toContain(summer)
  for (const query of ['größe', 'GROSSE']) expect(await marked(query)).toContain(size)
  for (const query of ['resume', 'résumé', '"resume" grosse']) expect(await marked(query)).toContain(summary)
  expect(await marked('resume')).not.toContain(size)
})

it('folds, stems, highlights and tolerates typing errors in other scripts too', async () => {
  const own = knowledgeTeam(service)
  await own.publish({ title: 'ПРИНТЕРЫ распечатывают «Криво»', body: 'Откалибруйте их.', language: 'ru' })
  await own.publish({ title: 'Ο ΕΚΤΥΠΩΤΗΡΑΣ ΣΤΟΝ ΟΡΟΦΟ', body: 'Καλέστε μας.', language: 'el' })
  const hits = async (query: string) => (await search(own.reader, query, { mode: 'lexical' })).results
  for (const query of ['принтеров', 'ПРИНТЕР', '"распечатывают криво"']) {
    const [hit, ...others] = await hits(query)
    expect([query, hit?.title, others]).toEqual([query, 'ПРИНТЕРЫ распечатывают «Криво»', []])
    expect(hit?.ranks.text).toBe(1)
  }
  const marked = async (query: string) => (await hits(query))[0]?.highlights.title
  expect(await marked('принтеру криво')).toBe('<mark>ПРИНТЕРЫ</mark> распечатывают «<mark>Криво</mark>»')
  expect(await marked('όροφο')).toContain('<mark>ΟΡΟΦΟ</mark>')
  expect((await hits('распечаытвают'))[0]).toMatchObject({ ranks: { text: null, trigram: 1 } })
})

it('reports lexical mode if no embeddings endpoint is configured', async () => {
  const mode = async (client: ApiClient, more: object = {}) => {
    const { searchMode, degraded } = await search(client, 'descaling', more)
    return [searchMode, degraded]
  }
  expect(await mode(team.reader)).toEqual(['lexical', 'embeddings_not_configured'])
  expect(await mode(team.reader, { mode: 'hybrid' })).toEqual(['lexical', 'embeddings_not_configured'])
  expect(await mode(team.reader, { mode: 'lexical' })).toEqual(['lexical', null])
  expect(await mode(knowledgeTeam(service).reader)).toEqual(['lexical', 'no_articles'])
})

it('restores identical rows, including search columns, when its tables are rebuilt from the log', async () => {
  const { id } = await team.publish({ title: 'Rebuilt', body: 'Error ERR-42.', tags: ['a'] })
  await team.author.patch(`/knowledge/${id}`, { title: 'Rebuilt twice' })
  const gone = await team.publish({ title: 'Retired' })
  await team.author.post(`/knowledge/${gone.id}/retire`)
  const draft = (await team.author.post('/knowledge', { title: 'Deleted', body: '' })).data(Article)
  await team.author.send('DELETE', `/knowledge/${draft.id}`)
  await team.reader.post(`/knowledge/${id}/feedback`, { helpful: true })
  const rows = async () => [
    await service.sql`select * from knowledge_articles order by id`,
    await service.sql`select * from knowledge_versions order by id`,
    await service.sql`select * from knowledge_published order by id`,
    await service.sql`select * from knowledge_votes order by id`,
  ]
  const before = await rows()
  expect(before.every((table) => table.length > 0)).toBe(true)
  await service.sql`update knowledge_published set state = (state::jsonb || '{"title":"Tampered with"}')::json`
  await service.sql`delete from knowledge_versions`
  await service.rebuild()
  expect(await rows()).toEqual(before)
  expect(await titles(team.reader, 'ERR-42')).toEqual(['Rebuilt'])
})
