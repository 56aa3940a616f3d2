import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Article } from '@opsplane/contracts'
import type { ApiClient, SharedService } from '@opsplane/testing'
import { joinItsm } from '../joined.fixture.js'
import { knowledgeTeam } from './knowledge.fixture.js'

let service: SharedService
beforeAll(async () => {
  service = await joinItsm()
})
afterAll(() => service?.stop())

const far = 'asOf=2120-01-01T00:00:00Z'

/** Reads the ids of a whole list page by page, following its cursors. */
const walk = async (client: ApiClient, query = ''): Promise<string[]> => {
  const ids: string[] = []
  for (let after = ''; ; ) {
    const { items, pagination } = (await client.get(`/knowledge?${query}&limit=1${after}`)).page(Article)
    ids.push(...items.map(({ id }) => id))
    if (pagination.nextCursor === null) return ids
    after = `&after=${encodeURIComponent(pagination.nextCursor)}`
  }
}

/** One article in each status, in order of creation. The last one is the next version of a published article. */
async function desk() {
  const team = knowledgeTeam(service)
  const begin = async (title: string) =>
    (await team.author.post('/knowledge', { title, body: '' })).data(Article)
  const draft = await begin('Mail draft')
  const inReview = await begin('Mail review')
  const published = await team.publish({ title: 'Mail setup', tags: ['mail'], category: 'mail' })
  const retired = await team.publish({ title: 'Fax setup', tags: ['fax'], language: 'de' })
  const next = await team.publish({ title: 'Mail on phones', tags: ['mail', 'phone'] })
  await team.author.post(`/knowledge/${inReview.id}/submit`)
  await team.author.post(`/knowledge/${retired.id}/retire`)
  await team.author.patch(`/knowledge/${next.id}`, { title: 'Post on phones' })
  return { ...team, draft, inReview, published, retired, next }
}
const idsOf = (...articles: Article[]) => articles.map(({ id }) => id)

describe('the list of articles', () => {
  it('filters by several statuses, with pagination', async () => {
    const { author, reader, draft, inReview, published, retired, next } = await desk()
    const all: [string, string[]][] = [
      ['', idsOf(next, retired, published, inReview, draft)],
      ['status=draft', idsOf(next, draft)],
      ['status=draft,in_review', idsOf(next, inReview, draft)],
      ['status=published&status=retired', idsOf(retired, published)],
      ['status=draft,retired&q=phone', idsOf(next)],
      ['status=draft,retired&tag=mail', idsOf(next)],
      ['status=draft,retired&language=de', idsOf(retired)],
    ]
    for (const [query, ids] of all) {
      expect([query, await walk(author, query)]).toEqual([query, ids])
      expect([query, await walk(author, `${query}&${far}`)]).toEqual([query, ids])
      expect([query, await walk(author, `${query}&sort=createdAt`)]).toEqual([query, ids.toReversed()])
    }
    // Readers see published articles only.
    for (const extra of ['', `&${far}`]) {
      expect(await walk(reader, extra)).toEqual(idsOf(next, published))
      expect(await walk(reader, `status=published,draft${extra}`)).toEqual(idsOf(next, published))
      expect(await walk(reader, `status=draft,retired${extra}`)).toEqual([])
      expect(await walk(reader, `q=mail+phone${extra}`)).toEqual(idsOf(next))
      expect(await walk(reader, `q=post${extra}`)).toEqual([])
      expect(await walk(reader, `tag=mail&category=mail${extra}`)).toEqual(idsOf(published))
      expect(await walk(reader, `q=mail&tag=phone${extra}`)).toEqual(idsOf(next))
    }
    expect((await author.get('/knowledge?status=draft,lost')).status).toBe(422)
    expect((await author.get('/knowledge?state=draft')).status).toBe(422)
  })

  it('can be sorted by number and by last change, for readers by that of the published version', async () => {
    const { author, reader, draft, inReview, published, retired, next } = await desk()
    expect(await walk(author, 'sort=number')).toEqual(idsOf(draft, inReview, published, retired, next))
    expect(await walk(author, 'sort=-updatedAt')).toEqual(idsOf(next, retired, inReview, published, draft))
    expect(await walk(reader, 'sort=number')).toEqual(idsOf(published, next))
    expect(await walk(reader, 'sort=-number')).toEqual(idsOf(next, published))
    await author.patch(`/knowledge/${published.id}`, { title: 'Mail' })
    expect(await walk(author, 'sort=-updatedAt')).toEqual(idsOf(published, next, retired, inReview, draft))
    expect(await walk(reader, 'sort=-updatedAt')).toEqual(idsOf(next, published))
    expect(await walk(reader, 'sort=updatedAt&q=mail')).toEqual(idsOf(published, next))
  })

  it('filters by creation time', async () => {
    const { author, reader, inReview, published, retired, next } = await desk()
    const range = `createdAfter=${inReview.createdAt}&createdBefore=${next.createdAt}`
    for (const extra of ['', `&${far}`]) {
      expect(await walk(author, range + extra)).toEqual(idsOf(retired, published))
      expect(await walk(reader, range + extra)).toEqual(idsOf(published))
    }
  })
})

describe('the list of articles as of a past instant', () => {
  it('contains the articles of that time, searched and filtered by their state then', async () => {
    const { author, reader, draft, inReview, published, retired, next } = await desk()
    const then = `asOf=${next.updatedAt}`
    expect(await walk(author, then)).toEqual(idsOf(next, retired, published, inReview, draft))
    expect(await walk(author, `${then}&sort=createdAt`)).toEqual(
      idsOf(draft, inReview, published, retired, next),
    )
    expect(await walk(author, `${then}&status=draft`)).toEqual(idsOf(inReview, draft))
    expect(await walk(author, `${then}&status=published,in_review&q=setup`)).toEqual(
      idsOf(retired, published),
    )
    expect(await walk(author, `${then}&q=mail&tag=phone`)).toEqual(idsOf(next))
    expect(await walk(author, `${then}&q=post`)).toEqual([])
    expect(await walk(author, 'q=post')).toEqual(idsOf(next))
    expect(await walk(author, `asOf=${published.updatedAt}`)).toEqual(idsOf(published, inReview, draft))
    expect(await walk(reader, then)).toEqual(idsOf(next, published))
    expect(await walk(reader, `${then}&sort=createdAt&q=mail`)).toEqual(idsOf(published, next))
    expect(await walk(reader, `asOf=${published.updatedAt}`)).toEqual(idsOf(published))
    expect(await walk(reader, `asOf=${published.createdAt}`)).toEqual([])
  })

  it('can be sorted only by creation time', async () => {
    const { author, reader } = knowledgeTeam(service)
    for (const client of [author, reader]) {
      for (const sort of ['updatedAt', '-number']) {
        const reply = await client.get(`/knowledge?${far}&sort=${sort}`)
        expect(reply.status).toBe(422)
        expect(reply.error().details).toEqual([expect.objectContaining({ in: 'query', path: '/sort' })])
      }
    }
    expect((await author.get('/knowledge?asOf=yesterday')).error().details[0]?.path).toBe('/asOf')
  })

  it('rejects cursors of the current list, and cursors of the writer list from readers and vice versa', async () => {
    const { author, reader } = await desk()
    const cursorOf = async (client: ApiClient, query: string) => {
      const { pagination } = (await client.get(`/knowledge?limit=1&${query}`)).page(Article)
      return encodeURIComponent(String(pagination.nextCursor))
    }
    for (const query of ['', far]) {
      const [writing, reading] = [await cursorOf(author, query), await cursorOf(reader, query)]
      const other = query === '' ? far : ''
      const go = async (client: ApiClient, after: string, selection: string) =>
        (await client.get(`/knowledge?limit=1&${selection}&after=${after}`)).status
      expect([await go(author, writing, query), await go(reader, reading, query)]).toEqual([200, 200])
      expect([await go(author, reading, query), await go(reader, writing, query)]).toEqual([400, 400])
      expect([await go(author, writing, other), await go(reader, reading, other)]).toEqual([400, 400])
    }
  })
})
