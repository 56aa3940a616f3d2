import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ReadRules, RecordImport, StudioRecord, TableState } from '@opsplane/contracts'
import { type ApiClient, testPrincipal, waitFor } from '@opsplane/testing'
import { assets } from './assets.fixture.js'
import { startStudio } from './studio.fixture.js'

let at: Awaited<ReturnType<typeof startStudio>>
const owner = testPrincipal()
const ada = { ...owner, role: 'agent', userId: 'usr_ada', email: 'ada@example.com' }
const bob = { ...owner, role: 'agent', userId: 'usr_bob', email: 'bob@example.com' }
const column = (name: string) => ({ name, type: 'text' })
const rules = [
  {
    role: 'agent',
    read: { or: [{ assignee: '$user.id' }, { shared: true }] },
    write: { assignee: '$user.id' },
  },
]
const tasks = TableState.parse({
  ...assets,
  slug: 'tasks',
  columns: [
    column('title'),
    column('assignee'),
    { name: 'shared', type: 'boolean', nullable: false, default: false },
    { name: 'parent', type: 'reference', table: 'tasks' },
  ],
  indexes: [],
  rules,
})

let all: ApiClient
let hers: ApiClient
let his: ApiClient
let made: Record<'ada' | 'bob' | 'shared', StudioRecord>
const path = '/tables/tasks/records'

beforeAll(async () => {
  at = await startStudio()
  await at.addTable(owner, tasks)
  all = at.studio.as(owner)
  hers = at.studio.as(ada)
  his = at.studio.as(bob)
  const create = async (body: object) => (await all.post(path, body)).data(StudioRecord)
  const bobs = await create({ title: 'his', assignee: 'usr_bob' })
  made = {
    bob: bobs,
    ada: await create({ title: 'hers', assignee: 'usr_ada', parent: bobs.id }),
    shared: await create({ title: 'for all', assignee: 'usr_bob', shared: true }),
  }
})
afterAll(() => at?.studio.stop())

describe('a user under a row rule', () => {
  it('sees only the records the rule permits, in every kind of read', async () => {
    const list = (await hers.get(`${path}?sort=id&expand=parent&count=exact`)).page(StudioRecord)
    expect(list.items.map(({ title }) => title)).toEqual(['hers', 'for all'])
    expect(list.pagination.total).toBe(2)
    expect(list.items[0]?.parent).toBeNull()
    expect((await hers.get(`${path}/${made.bob.id}`)).status).toBe(404)
    expect((await hers.get(`${path}/${made.shared.id}`)).status).toBe(200)
    expect((await hers.get(`${path}/${made.bob.id}?asOf=2999-01-01T00:00:00Z`)).status).toBe(404)
    const past = (await hers.get(`${path}?asOf=2999-01-01T00:00:00Z`)).page(StudioRecord).items
    expect(past.map(({ title }) => title)).toEqual(['for all', 'hers'])
    const exported = (await hers.get(`${path}/export?format=ndjson`)).text
    expect(exported).toContain('hers')
    expect(exported).not.toContain('"his"')
    const filter = encodeURIComponent('{"or":[{"title":"his"},{"title":"hers"}]}')
    expect((await hers.get(`${path}?filter=${filter}`)).page(StudioRecord).items).toHaveLength(1)
  })

  it('changes only the records the rule permits, and not to a forbidden state', async () => {
    expect((await hers.post(path, { title: 'x', assignee: 'usr_bob' })).error().code).toBe('forbidden')
    expect(
      (await hers.post(`${path}/bulk`, { records: [{ assignee: 'usr_ada' }, { assignee: null }] })).status,
    ).toBe(403)
    expect((await hers.patch(`${path}/${made.ada.id}`, { assignee: 'usr_bob' })).status).toBe(403)
    expect((await hers.patch(`${path}/${made.shared.id}`, { title: 'x' })).status).toBe(403)
    expect((await hers.patch(`${path}/${made.bob.id}`, { title: 'x' })).status).toBe(404)
    expect((await hers.send('DELETE', `${path}/${made.bob.id}`)).status).toBe(404)
    expect((await hers.send('DELETE', `${path}/${made.shared.id}`)).status).toBe(403)
    const batch = { operations: [{ op: 'update', table: 'tasks', id: made.shared.id, data: { title: 'x' } }] }
    expect((await hers.post('/tables/batch', batch)).status).toBe(403)
    const bulk = await hers.patch(`${path}/bulk`, { filter: {}, set: { title: 'changed' } })
    expect(bulk.status).toBe(200)
    const titles = (await all.get(`${path}?sort=id`)).page(StudioRecord).items.map(({ title }) => title)
    expect(titles).toEqual(['his', 'changed', 'for all'])
    expect((await his.patch(`${path}/${made.bob.id}`, { title: 'his' })).status).toBe(200)
  })

  it("has the row rule applied when others act on their request, in addition to the others' own rules", async () => {
    const subject = ({ actor, userId, role, email }: typeof ada) => ({ actor, userId, role, email })
    const titles = async (principal: typeof owner) =>
      (await at.studio.as(principal).get(`${path}?sort=id`))
        .page(StudioRecord)
        .items.map(({ assignee }) => assignee)
    const unruled = { ...owner, role: 'admin' }
    expect(await titles(unruled)).toEqual(['usr_bob', 'usr_ada', 'usr_bob'])
    expect(await titles({ ...unruled, callers: [subject(ada)] })).toEqual(['usr_ada', 'usr_bob'])
    expect(await titles({ ...ada, callers: [subject(bob)] })).toEqual(['usr_bob'])
    const bound = at.studio.as({ ...unruled, callers: [subject(ada)] })
    expect((await bound.get(`${path}/${made.bob.id}`)).status).toBe(404)
    expect((await bound.patch(`${path}/${made.bob.id}`, { title: 'x' })).status).toBe(404)
    expect((await bound.patch(`${path}/${made.shared.id}`, { title: 'x' })).status).toBe(403)
    expect((await bound.post('/queries/run', { sql: 'select 1' })).status).toBe(403)
  })

  it('imports only records they may write', async () => {
    const response = await fetch(`${at.studio.url}${path}/import`, {
      method: 'POST',
      headers: { ...(await at.studio.headers(ada)), 'content-type': 'text/csv' },
      body: 'title,assignee\nmine,usr_ada\nnot mine,usr_bob\n',
    })
    expect(response.status).toBe(202)
    const { data } = (await response.json()) as { data: { id: string } }
    const done = await waitFor(async () => {
      const found = (await hers.get(`/tables/tasks/imports/${data.id}`)).data(RecordImport)
      return found.finishedAt === null ? undefined : found
    })
    expect(done).toMatchObject({ status: 'completed', written: 1, refused: 1, refusedRows: [{ line: 3 }] })
  })

  it('has a rule that is rejected if it names a missing column', async () => {
    const wrong = [{ role: 'agent', read: { nothing: 1, or: [{ shared: 'x' }] } }]
    const refused = await all.patch('/tables/tasks', { rules: wrong })
    expect(refused.error().details.map((detail) => detail.path)).toEqual([
      '/rules/0/read/nothing',
      '/rules/0/read/or/0/shared',
    ])
  })

  it("is reported to event subscribers, with the workspace's tables and their read rules", async () => {
    const write = { role: 'viewer', read: null, write: { assignee: '$user.id' } }
    await at.addTable(owner, TableState.parse({ ...tasks, slug: 'written', rules: [...rules, write] }))
    const ask = async (workspaceId: string | undefined) =>
      (await at.studio.asService('dispatcher').post('/internal/read-rules', { workspaceId })).data(ReadRules)
    expect(await ask(owner.workspaceId)).toEqual({
      rules: ['tasks', 'written'].map((table) => ({ environment: 'production', table, role: 'agent' })),
    })
    expect(await ask(testPrincipal().workspaceId)).toEqual({ rules: [] })
    const body = { workspaceId: owner.workspaceId }
    expect((await at.studio.asService('apps').post('/internal/read-rules', body)).status).toBe(403)
  })

  it('includes every user of an unknown role, who sees and writes nothing', async () => {
    const { role: _, ...unknown } = owner
    expect((await at.studio.as(unknown).get(path)).page(StudioRecord).items).toEqual([])
    expect((await at.studio.as(unknown).post(path, { title: 'x' })).status).toBe(403)
  })
})
