import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Article, ArticleVersion, knowledgeEvents, maxArticleBytes, newId } from '@opsplane/contracts'
import { type EventRecorder, recordEvents, type SharedService, waitFor } from '@opsplane/testing'
import { joinItsm } from '../joined.fixture.js'
import { knowledgeTeam } from './knowledge.fixture.js'

let service: SharedService
let recorder: EventRecorder
let team: ReturnType<typeof knowledgeTeam>

beforeAll(async () => {
  service = await joinItsm()
  recorder = await recordEvents(service.natsPrefix)
  team = knowledgeTeam(service)
})
afterAll(async () => {
  await recorder?.stop()
  await service?.stop()
})

const begin = async (fields: object = {}): Promise<Article> =>
  (await team.author.post('/knowledge', { title: 'VPN', body: 'Restart it.', ...fields })).data(Article)

describe('the lifecycle of an article', () => {
  it('is reported by events, without the body', async () => {
    const { id } = await begin({ tags: ['vpn', 'vpn'], validUntil: '2027-01-01T00:00:00+02:00' })
    const path = `/knowledge/${id}`
    await team.author.post(`${path}/submit`)
    await team.reviewer.post(`${path}/reject`, { reason: 'Too short.' })
    await team.author.patch(path, { body: 'Restart the client.' })
    await team.author.post(`${path}/submit`)
    await team.reviewer.post(`${path}/approve`)
    await team.author.patch(path, { title: 'VPN client' })
    await team.author.post(`${path}/submit`)
    await team.reviewer.post(`${path}/approve`)
    const retired = (await team.author.post(`${path}/retire`)).data(Article)
    expect(retired).toMatchObject({ status: 'retired', tags: ['vpn'], allowedActions: [] })
    expect(retired.validUntil).toBe('2026-12-31T22:00:00.000Z')

    const published = await waitFor(() => {
      const events = recorder.published.filter(({ event }) => event.resource.id === id)
      return events.length >= 11 && events
    })
    expect(published.map(({ event }) => event.type.replace('article.', ''))).toEqual([
      ...['created', 'submitted', 'rejected', 'updated', 'submitted', 'published'],
      ...['updated', 'submitted', 'published', 'outdated', 'retired'],
    ])
    for (const { event } of published) {
      expect(Object(event.data.after ?? event.data.before)).toHaveProperty('body')
      const definition = Object.entries(knowledgeEvents).find(([type]) => type === event.type)?.[1]
      expect(definition?.data.parse(event.data)).toEqual(event.data)
    }
    expect(published[3]?.event.data.changes).toContain('body')
  })

  it('requires a second person to publish', async () => {
    const { id } = await begin()
    await team.author.post(`/knowledge/${id}/submit`)
    const reply = await team.author.post(`/knowledge/${id}/approve`)
    expect(reply.error().code).toBe('forbidden')
    expect((await team.author.get(`/knowledge/${id}`)).data(Article).status).toBe('in_review')
  })

  it('accepts a body of up to 256 KiB', async () => {
    const whole = await begin({ body: 'ä'.repeat(maxArticleBytes / 2) })
    expect(whole.body).toHaveLength(maxArticleBytes / 2)
    const reply = await team.author.post('/knowledge', {
      title: 'Long',
      body: 'ä'.repeat(maxArticleBytes / 2 + 1),
    })
    expect(reply.error().details[0]).toMatchObject({ in: 'body', path: '/body' })
  })

  it('allows only drafts to be deleted', async () => {
    const { id } = await begin()
    expect((await team.author.send('DELETE', `/knowledge/${id}`)).status).toBe(204)
    expect((await team.author.get(`/knowledge/${id}`)).status).toBe(404)
    expect(await service.sql`select 1 from knowledge_versions where article_id = ${id}`).toHaveLength(0)
    const live = await team.publish({ title: 'Live' })
    const refused = await team.author.send('DELETE', `/knowledge/${live.id}`)
    expect(refused.error().code).toBe('invalid_state_transition')
  })
})

describe('versions of an article', () => {
  it('keep the published one for readers while the next one is being written', async () => {
    const { id, number } = await team.publish({ title: 'Printer', body: 'First text.' })
    const draft = (await team.author.patch(`/knowledge/${id}`, { body: 'Second text.' })).data(Article)
    expect(draft).toMatchObject({ status: 'draft', articleVersion: 2, publishedVersion: 1 })

    const read = (await team.reader.get(`/knowledge/${number}`)).data(Article)
    expect(read).toMatchObject({
      body: 'First text.',
      status: 'published',
      articleVersion: 1,
      allowedActions: [],
    })
    const list = (await team.author.get(`/knowledge/${id}/versions`)).page(ArticleVersion).items
    expect(list.map(({ articleVersion, status, body }) => [articleVersion, status, body])).toEqual([
      [2, 'draft', 'Second text.'],
      [1, 'published', 'First text.'],
    ])

    await team.author.post(`/knowledge/${id}/submit`)
    await team.reviewer.post(`/knowledge/${id}/approve`)
    expect((await team.reader.get(`/knowledge/${id}`)).data(Article).body).toBe('Second text.')
    const first = (await team.author.get(`/knowledge/${id}/versions/1`)).data(ArticleVersion)
    expect(first).toMatchObject({ status: 'outdated', body: 'First text.' })
    for (const n of ['3', '0', 'x'])
      expect((await team.author.get(`/knowledge/${id}/versions/${n}`)).status).toBe(404)
  })
})

it('an article retired while its next version is being written has a retired version, not an outdated one', async () => {
  const { id } = await team.publish({ title: 'First' })
  await team.author.patch(`/knowledge/${id}`, { title: 'Second' })
  await team.author.post(`/knowledge/${id}/submit`)
  await team.reviewer.post(`/knowledge/${id}/approve`)
  await team.author.patch(`/knowledge/${id}`, { title: 'Third' })
  await team.author.post(`/knowledge/${id}/retire`)
  const versions = (await team.author.get(`/knowledge/${id}/versions`)).page(ArticleVersion).items
  expect(versions.map(({ title, status }) => [title, status])).toEqual([
    ['Third', 'retired'],
    ['Second', 'retired'],
    ['First', 'outdated'],
  ])
  const retired = await team.author.get(`/knowledge/${id}/versions?status=retired`)
  expect(retired.page(ArticleVersion).items).toEqual(versions.slice(0, 2))
})

describe('readers of articles', () => {
  it('cannot read or list draft, internal, retired and expired articles', async () => {
    const own = knowledgeTeam(service)
    const shown = await own.publish({ title: 'Public' })
    const internal = await own.publish({ title: 'Internal', visibility: 'internal' })
    const expired = await own.publish({ title: 'Expired', validUntil: '2020-01-01T00:00:00Z' })
    const retired = await own.publish({ title: 'Retired' })
    await own.author.post(`/knowledge/${retired.id}/retire`)
    const draft = (await own.author.post('/knowledge', { title: 'Draft', body: '' })).data(Article)
    for (const { id } of [internal, expired, retired, draft]) {
      expect((await own.reader.get(`/knowledge/${id}`)).status).toBe(404)
      expect((await own.reader.post(`/knowledge/${id}/feedback`, { helpful: true })).status).toBe(404)
    }
    expect((await own.reader.get('/knowledge')).page(Article).items.map(({ id }) => id)).toEqual([shown.id])
    expect((await own.reader.get('/knowledge?status=published')).page(Article).items).toHaveLength(1)
    expect((await own.reader.get('/knowledge?status=draft')).page(Article).items).toEqual([])
    expect((await own.author.get('/knowledge')).page(Article).items).toHaveLength(5)
    expect((await own.reader.post('/knowledge', { title: 'No', body: '' })).error().code).toBe(
      'insufficient_scope',
    )
  })

  it('have one vote each, of which the last one counts', async () => {
    const { id } = await team.publish({ title: 'Helpful' })
    const vote = (helpful: boolean) => team.reader.post(`/knowledge/${id}/feedback`, { helpful })
    await Promise.all([vote(true), vote(true), vote(true)])
    await team.author.post(`/knowledge/${id}/feedback`, { helpful: true })
    const read = async () => (await team.reader.get(`/knowledge/${id}`)).data(Article).helpfulness
    expect(await read()).toEqual({ helpful: 2, notHelpful: 0 })
    await vote(false)
    expect(await read()).toEqual({ helpful: 1, notHelpful: 1 })
  })
})

it('filters lists of articles, with pagination', async () => {
  const own = knowledgeTeam(service)
  await own.publish({ title: 'Mail setup', category: 'mail', tags: ['mail', 'setup'] })
  await own.publish({ title: 'Mail auf Deutsch', category: 'mail', language: 'de', tags: ['mail'] })
  await own.publish({ title: 'Printer 100%', category: 'print' })
  const titles = async (query: string, client = own.author) =>
    (await client.get(`/knowledge?${query}`)).page(Article).items.map(({ title }) => title)
  for (const client of [own.author, own.reader]) {
    expect(await titles('category=mail', client)).toEqual(['Mail auf Deutsch', 'Mail setup'])
    expect(await titles('tag=setup', client)).toEqual(['Mail setup'])
    expect(await titles('language=de', client)).toEqual(['Mail auf Deutsch'])
    expect(await titles('q=100%25', client)).toEqual(['Printer 100%'])
    const first = (await client.get('/knowledge?limit=2')).page(Article)
    const after = encodeURIComponent(first.pagination.nextCursor ?? '')
    expect(await titles(`limit=2&after=${after}`, client)).toEqual(['Mail setup'])
  }
  expect(await titles('status=draft')).toEqual([])
})

it("returns the response of an unknown id for another tenant's article", async () => {
  const { id, number } = await team.publish({ title: 'Ours' })
  const elsewhere = knowledgeTeam(service)
  const staging = service.as({ ...team.principal, environment: 'staging' })
  const routes: [string, string, object?][] = [
    ['GET', ''],
    ['PATCH', '', { title: 'Mine' }],
    ['DELETE', ''],
    ...['submit', 'approve', 'retire'].map((action): [string, string] => ['POST', `/${action}`]),
    ['POST', '/reject', { reason: 'No.' }],
    ['POST', '/feedback', { helpful: false }],
    ['GET', '/versions'],
    ['GET', '/versions/1'],
  ]
  for (const [method, path, body] of routes) {
    for (const client of [elsewhere.author, staging]) {
      for (const reference of [id, number === 'KB-1' ? newId('article') : number]) {
        const reply = await client.send(method, `/knowledge/${reference}${path}`, body ? { body } : {})
        expect([method, path, reply.status]).toEqual([method, path, 404])
      }
    }
  }
})
