import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { Article, ArticleVersion } from '@opsplane/contracts'
import type { SharedService } from '@opsplane/testing'
import { joinItsm } from '../joined.fixture.js'
import { knowledgeTeam } from './knowledge.fixture.js'

let service: SharedService
beforeAll(async () => {
  service = await joinItsm()
})
afterAll(() => service?.stop())

/** An article that passes through three versions and is retired, with the instant of each step. */
async function longLived() {
  const team = knowledgeTeam(service)
  const { author, reviewer } = team
  const first = await team.publish({ title: 'Printer jam', body: 'One.', tags: ['a4'] })
  const path = `/knowledge/${first.id}`
  const step = async (reply: ReturnType<typeof author.post>) => (await reply).data(Article)
  const begun = await step(author.patch(path, { title: 'Printer stuck', body: 'Two.' }))
  const edited = await step(author.patch(path, { title: 'Paper stuck' }))
  await author.post(`${path}/submit`)
  const second = await step(reviewer.post(`${path}/approve`))
  const third = await step(author.patch(path, { summary: 'Open the lid.', body: 'Three.' }))
  const list = async (query = '') =>
    (await author.get(`${path}/versions?${query}`)).page(ArticleVersion).items
  return { ...team, path, first, begun, edited, second, third, list }
}

it('lists versions as of a past instant, and reads them individually', async () => {
  const { author, path, list, ...steps } = await longLived()
  const { first, begun, edited, second, third } = steps
  const now = await list()
  expect(now.map(({ articleVersion, status, body }) => [articleVersion, status, body])).toEqual([
    ...[
      [3, 'draft', 'Three.'],
      [2, 'published', 'Two.'],
      [1, 'outdated', 'One.'],
    ],
  ])
  expect(await list(`asOf=${third.updatedAt}`)).toEqual(now)
  await author.post(`${path}/retire`)
  expect(await list(`asOf=${third.updatedAt}`)).toEqual(now)
  expect(await list('asOf=2120-01-01T00:00:00Z')).toEqual(await list())

  const briefly = async (at: string) =>
    (await list(`asOf=${at}`)).map(({ articleVersion, status, title }) => [articleVersion, status, title])
  expect(await briefly(second.updatedAt)).toEqual([
    ...[
      [2, 'published', 'Paper stuck'],
      [1, 'outdated', 'Printer jam'],
    ],
  ])
  expect(await briefly(edited.updatedAt)).toEqual([
    ...[
      [2, 'draft', 'Paper stuck'],
      [1, 'published', 'Printer jam'],
    ],
  ])
  expect((await briefly(begun.updatedAt))[0]).toEqual([2, 'draft', 'Printer stuck'])
  expect(await briefly(first.createdAt)).toEqual([[1, 'draft', 'Printer jam']])

  const one = async (n: string, query = '') => {
    const reply = await author.get(`${path}/versions/${n}?${query}`)
    return reply.status === 200 ? reply.data(ArticleVersion) : reply.status
  }
  expect(await Promise.all(['3', '2', '1'].map((n) => one(n, `asOf=${third.updatedAt}`)))).toEqual(now)
  expect(await one('3', `asOf=${second.updatedAt}`)).toBe(404)
  expect(await one('2', `asOf=${begun.updatedAt}`)).toMatchObject({ title: 'Printer stuck', status: 'draft' })
  for (const n of ['0', '-1', '1.5', 'x', '4', '01', '0x1', '1e0', '%201']) {
    expect([n, await one(n), await one(n, `asOf=${third.updatedAt}`)]).toEqual([n, 404, 404])
  }
  const before = new Date(Date.parse(first.createdAt) - 1).toISOString()
  expect(await one('1', `asOf=${before}`)).toBe(404)
  expect((await author.get(`${path}/versions?asOf=${before}`)).status).toBe(404)
})

it('finds versions by words and status, now and as of a past instant, with pagination', async () => {
  const { author, reader, path, list, second } = await longLived()
  const numbers = async (query: string) => (await list(query)).map(({ articleVersion }) => articleVersion)
  const then = `&asOf=${second.updatedAt}`
  const all: [string, number[], number[]][] = [
    ['q=stuck', [3, 2], [2]],
    ['q=lid', [3], []],
    ['q=jam', [1], [1]],
    ['q=a4+-jam', [3, 2], [2]],
    ['q=nothing', [], []],
    ['status=published', [2], [2]],
    ['status=outdated', [1], [1]],
    ['status=draft,outdated', [3, 1], [1]],
    ['status=retired', [], []],
    ['status=published,outdated&q=stuck', [2], [2]],
  ]
  for (const [query, now, past] of all) {
    expect([query, await numbers(query), await numbers(query + then)]).toEqual([query, now, past])
  }
  for (const [query, expected] of [
    ['', [3, 2, 1]],
    [then, [2, 1]],
    [`q=stuck&asOf=2120-01-01T00:00:00Z`, [3, 2]],
  ]) {
    const read: number[] = []
    for (let after = ''; ; ) {
      const reply = await author.get(`${path}/versions?limit=1&${query}${after}`)
      const { items, pagination } = reply.page(ArticleVersion)
      read.push(...items.map(({ articleVersion }) => articleVersion))
      if (pagination.nextCursor === null) break
      after = `&after=${encodeURIComponent(pagination.nextCursor)}`
    }
    expect([query, read]).toEqual([query, expected])
  }
  await author.post(`${path}/retire`)
  expect([await numbers('status=retired'), await numbers('status=outdated')]).toEqual([[3, 2], [1]])
  expect((await author.get(`${path}/versions?state=draft`)).status).toBe(422)
  expect((await reader.get(`${path}/versions?q=stuck`)).error().code).toBe('insufficient_scope')
})
