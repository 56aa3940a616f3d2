import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Article, type NewArticle } from '@opsplane/contracts'
import type { ApiClient, SharedService } from '@opsplane/testing'
import { joinItsm } from '../joined.fixture.js'
import { knowledgeTeam } from './knowledge.fixture.js'
import { voteId } from './vote.js'

let service: SharedService
beforeAll(async () => {
  service = await joinItsm()
})
afterAll(() => service?.stop())

const then = (instant: string) => `asOf=${encodeURIComponent(instant)}`
const justBefore = (instant: string) => new Date(Date.parse(instant) - 1).toISOString()

type Team = ReturnType<typeof knowledgeTeam>
const read = async (client: ApiClient, id: string, query = ''): Promise<Article | null> => {
  const reply = await client.get(`/knowledge/${id}?${query}`)
  if (reply.status === 404) return null
  return reply.data(Article)
}
const listed = async (client: ApiClient, query = ''): Promise<Article[]> =>
  (await client.get(`/knowledge?${query}`)).page(Article).items

/** Begins an article, or its next version, and gets it approved. */
const publishNext = async ({ author, reviewer }: Team, id: string, fields: Partial<NewArticle>) => {
  await author.patch(`/knowledge/${id}`, fields)
  await author.post(`/knowledge/${id}/submit`)
  return (await reviewer.post(`/knowledge/${id}/approve`)).data(Article)
}
/** The instant of the last event of an aggregate. */
const lastOf = async (stream: string): Promise<string> => {
  const [row] =
    await service.sql`select created_at from events where stream_id = ${stream} order by version desc limit 1`
  return new Date(row?.created_at).toISOString()
}

describe('the lifecycle of an article, read as of past instants', () => {
  interface Moment {
    at: string
    writer: Article | null
    reader: Article | null
    writerList: Article[]
    readerList: Article[]
  }
  const look = async ({ author, reader }: Team, id: string, at: string, asOf = ''): Promise<Moment> => ({
    at,
    writer: await read(author, id, asOf),
    reader: await read(reader, id, asOf),
    writerList: await listed(author, asOf),
    readerList: await listed(reader, asOf),
  })

  it('returns the responses of that time, including votes', async () => {
    const team = knowledgeTeam(service)
    const { author, reviewer, reader } = team
    const fields = { title: 'VPN', body: 'Restart it.', tags: ['vpn'], category: 'net' }
    const { id, createdAt } = (await author.post('/knowledge', fields)).data(Article)
    const path = `/knowledge/${id}`
    const voteOf = (userId: string | undefined) => lastOf(voteId(id, String(userId)))
    const steps: (() => Promise<string>)[] = [
      async () => createdAt,
      () => author.post(`${path}/submit`).then(() => lastOf(id)),
      () => reviewer.post(`${path}/reject`, { reason: 'Too short.' }).then(() => lastOf(id)),
      () => publishNext(team, id, { body: 'Restart the client.' }).then(() => lastOf(id)),
      () =>
        reader.post(`${path}/feedback`, { helpful: true }).then(() => voteOf(team.readerPrincipal.userId)),
      () => author.post(`${path}/feedback`, { helpful: true }).then(() => voteOf(team.principal.userId)),
      () => author.patch(path, { title: 'VPN client', tags: [] }).then(() => lastOf(id)),
      () =>
        reader.post(`${path}/feedback`, { helpful: false }).then(() => voteOf(team.readerPrincipal.userId)),
      () => author.post(`${path}/submit`).then(() => lastOf(id)),
      () => reviewer.post(`${path}/approve`).then(() => lastOf(id)),
    ]
    const moments: Moment[] = []
    for (const step of steps) moments.push(await look(team, id, await step()))
    for (const moment of moments) expect(await look(team, id, moment.at, then(moment.at))).toEqual(moment)

    expect(moments.map(({ reader }) => reader && [reader.title, reader.helpfulness.helpful])).toEqual([
      ...[null, null, null],
      ...[
        ['VPN', 0],
        ['VPN', 1],
        ['VPN', 2],
        ['VPN', 2],
        ['VPN', 1],
        ['VPN', 1],
      ],
      ['VPN client', 1],
    ])
    const before = await look(team, id, '', then(justBefore(createdAt)))
    expect(before).toEqual({ at: '', writer: null, reader: null, writerList: [], readerList: [] })

    // Retiring hides the past of an article from readers only.
    await author.post(`${path}/retire`)
    for (const moment of moments) {
      const now = await look(team, id, moment.at, then(moment.at))
      expect(now).toEqual({ ...moment, reader: null, readerList: [] })
    }
    expect((await read(author, id, then(await lastOf(id))))?.status).toBe('retired')
  })

  it('includes a deleted draft before its deletion, for writers', async () => {
    const team = knowledgeTeam(service)
    const draft = (await team.author.post('/knowledge', { title: 'Draft', body: '' })).data(Article)
    await team.author.send('DELETE', `/knowledge/${draft.id}`)
    const deleted = await lastOf(draft.id)
    expect(await look(team, draft.id, '', then(justBefore(deleted)))).toEqual({
      ...{ at: '', writer: draft, reader: null },
      ...{ writerList: [draft], readerList: [] },
    })
    const gone = await look(team, draft.id, '', then(deleted))
    expect(gone).toEqual({ at: '', writer: null, reader: null, writerList: [], readerList: [] })
  })
})

describe('the past of an article for readers', () => {
  it('excludes articles that are hidden from them now', async () => {
    const team = knowledgeTeam(service)
    const shown = await team.publish({ title: 'Shown' })
    const secret = await team.publish({ title: 'Secret' })
    const expired = await team.publish({ title: 'Expired' })
    const retired = await team.publish({ title: 'Retired' })
    const all = [retired, expired, secret, shown].map(({ id }) => id)
    const at = then(retired.updatedAt)
    const ids = async (client: ApiClient) => (await listed(client, at)).map(({ id }) => id)
    expect(await ids(team.reader)).toEqual(all)

    await publishNext(team, secret.id, { visibility: 'internal' })
    await publishNext(team, expired.id, { validUntil: '2020-01-01T00:00:00Z' })
    await team.author.post(`/knowledge/${retired.id}/retire`)
    expect(await ids(team.reader)).toEqual([shown.id])
    expect(await ids(team.author)).toEqual(all)
    for (const { id } of [secret, expired, retired]) expect(await read(team.reader, id, at)).toBeNull()
    expect((await read(team.reader, shown.id, at))?.title).toBe('Shown')
    expect(await listed(team.reader, `${at}&q=secret`)).toEqual([])
  })

  it('excludes articles that were hidden from them then', async () => {
    const team = knowledgeTeam(service)
    const internal = await team.publish({ title: 'Internal', visibility: 'internal' })
    const expired = await team.publish({ title: 'Expired', validUntil: '2020-01-01T00:00:00Z' })
    const ending = await team.publish({ title: 'Ending', validUntil: '2100-01-01T00:00:00Z' })
    const opened = await publishNext(team, internal.id, { visibility: 'public' })
    const renewed = await publishNext(team, expired.id, { validUntil: null })
    const at = async (instant: string) => (await listed(team.reader, then(instant))).map(({ id }) => id)
    expect(await at(ending.updatedAt)).toEqual([ending.id])
    expect(await at(opened.updatedAt)).toEqual([ending.id, internal.id])
    expect(await at(renewed.updatedAt)).toEqual([ending.id, expired.id, internal.id])
    expect(await at('2100-01-01T00:00:00Z')).toEqual([expired.id, internal.id])
    for (const { id } of [internal, expired])
      expect(await read(team.reader, id, then(ending.updatedAt))).toBeNull()
    expect(await read(team.reader, ending.id, then('2100-01-01T00:00:00Z'))).toBeNull()
  })

  it('contains the version published then while the next one is being written', async () => {
    const team = knowledgeTeam(service)
    const { id, number } = await team.publish({ title: 'Printer', body: 'First.' })
    const draft = (await team.author.patch(`/knowledge/${id}`, { body: 'Second.' })).data(Article)
    await team.author.post(`/knowledge/${id}/submit`)
    await team.reviewer.post(`/knowledge/${id}/approve`)
    const first = await read(team.reader, number, then(draft.updatedAt))
    expect(first).toMatchObject({
      body: 'First.',
      status: 'published',
      articleVersion: 1,
      version: draft.version,
    })
    expect((await read(team.author, number, then(draft.updatedAt)))?.body).toBe('Second.')
  })
})

it('the past of an article is hidden from other tenants', async () => {
  const team = knowledgeTeam(service)
  const { id, updatedAt } = await team.publish({ title: 'Ours' })
  await team.reader.post(`/knowledge/${id}/feedback`, { helpful: true })
  const elsewhere = knowledgeTeam(service)
  const staging = { ...team.principal, environment: 'staging' } as const
  const reading = { ...team.readerPrincipal, environment: 'staging' } as const
  for (const client of [elsewhere.author, elsewhere.reader, service.as(staging), service.as(reading)]) {
    expect(await read(client, id, then(updatedAt))).toBeNull()
    expect(await listed(client, then(updatedAt))).toEqual([])
    const versions = await client.get(`/knowledge/${id}/versions?${then(updatedAt)}`)
    expect([403, 404]).toContain(versions.status)
    expect([403, 404]).toContain((await client.get(`/knowledge/${id}/versions/1?${then(updatedAt)}`)).status)
  }
})
