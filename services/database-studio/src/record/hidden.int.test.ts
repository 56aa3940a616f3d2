import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { RecordImport, StudioRecord, TableState } from '@opsplane/contracts'
import { type ApiClient, type ApiReply, testPrincipal, waitFor } from '@opsplane/testing'
import { assets } from './assets.fixture.js'
import { startStudio } from './studio.fixture.js'

let at: Awaited<ReturnType<typeof startStudio>>
const owner = testPrincipal()
const actor = { id: 'usr_ada', name: 'Ada', type: 'user' as const }
const ada = { ...owner, actor, role: 'agent', userId: 'usr_ada', email: 'ada@example.com' }
const rules = [{ role: 'agent', read: { assignee: '$user.id' }, write: null }]
const column = (name: string) => ({ name, type: 'text' })
const tasks = TableState.parse({
  ...assets,
  slug: 'tasks',
  columns: [
    column('title'),
    column('assignee'),
    { ...column('code'), unique: true },
    { name: 'parent', type: 'reference', table: 'tasks' },
  ],
  indexes: [],
  rules,
})
/** Has no row rule itself, but refers to a table that has one. */
const notes = TableState.parse({
  ...assets,
  slug: 'notes',
  columns: [
    column('text'),
    { ...column('key'), unique: true },
    { name: 'task', type: 'reference', table: 'tasks' },
  ],
  indexes: [],
  rules: [],
})

interface Subject {
  id: string
  title: string
}
let hers: ApiClient
let own: StudioRecord
let note: StudioRecord
let hidden: Subject
let absent: Subject
const path = '/tables/tasks/records'
const query = (filter: object) => encodeURIComponent(JSON.stringify(filter))

beforeAll(async () => {
  at = await startStudio()
  await at.addTable(owner, tasks)
  await at.addTable(owner, notes)
  const all = at.studio.as(owner)
  hers = at.studio.as(ada)
  const create = async (body: object, to = path) => (await all.post(to, body)).data(StudioRecord)
  const his = await create({ title: 'his', assignee: 'usr_bob', code: 'b-1' })
  await all.patch(`${path}/${his.id}`, { title: 'his own' })
  const many = (record: object) => Array.from({ length: 30 }, () => record)
  const records = [
    ...many({ title: 'his own', assignee: 'usr_bob' }),
    ...many({ title: 'hers', assignee: 'usr_ada' }),
  ]
  await all.post(`${path}/bulk`, { records })
  own = await create({ title: 'hers', assignee: 'usr_ada', parent: his.id })
  note = await create({ text: 'a note', task: his.id }, '/tables/notes/records')
  // Gives Postgres statistics on which titles are frequent.
  await at.studio.sql.unsafe('analyze')
  hidden = { id: his.id, title: 'his own' }
  absent = { id: `${his.id.slice(0, -4)}ZZZZ`, title: 'not one' }
})
afterAll(() => at?.studio.stop())

async function imported(body: string, to = 'tasks', on = ''): Promise<Partial<RecordImport>> {
  const response = await fetch(`${at.studio.url}/tables/${to}/records/import${on}`, {
    method: 'POST',
    headers: { ...(await at.studio.headers(ada)), 'content-type': 'text/csv' },
    body,
  })
  const { data } = (await response.json()) as { data: { id: string } }
  const { status, written, refused, refusedRows } = await waitFor(async () => {
    const found = (await hers.get(`/tables/${to}/imports/${data.id}`)).data(RecordImport)
    return found.finishedAt === null ? undefined : found
  })
  return { status, written, refused, refusedRows }
}

type Operation = (subject: Subject) => Promise<ApiReply | object>
const batch = (operation: object) => hers.post('/tables/batch', { operations: [operation] })
const dry = (operation: object) => hers.post('/tables/batch', { operations: [operation], dryRun: true })
const put = (to: string, body: object) => hers.send('PUT', to, { body })

const operations: Record<string, Operation> = {
  get: ({ id }) => hers.get(`${path}/${id}`),
  'get of the past': ({ id }) => hers.get(`${path}/${id}?asOf=2999-01-01T00:00:00Z`),
  history: ({ id }) => hers.get(`${path}/${id}/history`),
  update: ({ id }) => hers.patch(`${path}/${id}`, { title: 'x' }),
  'update of nothing': ({ id }) => hers.patch(`${path}/${id}`, {}),
  'update by version': ({ id }) =>
    hers.send('PATCH', `${path}/${id}`, { body: { title: 'x' }, headers: { 'if-match': '"7"' } }),
  delete: ({ id }) => hers.send('DELETE', `${path}/${id}`),
  'batch update': ({ id }) => batch({ op: 'update', table: 'tasks', id, data: { title: 'x' } }),
  'batch update by version': ({ id }) =>
    batch({ op: 'update', table: 'tasks', id, version: 7, data: { title: 'x' } }),
  'batch delete': ({ id }) => batch({ op: 'delete', table: 'tasks', id }),
  'bulk update': ({ title }) =>
    hers.patch(`${path}/bulk`, { filter: { title }, set: { title: 'x' }, limit: 5 }),
  'bulk delete': ({ title }) =>
    hers.send('DELETE', `${path}/bulk`, { body: { filter: { title }, limit: 5 } }),
  list: ({ id }) => hers.get(`${path}?filter=${query({ id })}`),
  'list of the past': ({ title }) => hers.get(`${path}?filter=${query({ title })}&asOf=2999-01-01T00:00:00Z`),
  search: ({ title }) => hers.get(`${path}?q=${title}`),
  count: ({ title }) => hers.get(`${path}?filter=${query({ title })}&count=exact`),
  'estimated count': ({ title }) => hers.get(`${path}?filter=${query({ title })}&count=estimated`),
  export: async ({ title }) => ({
    text: (await hers.get(`${path}/export?format=ndjson&filter=${query({ title })}`)).text,
  }),
  'create that refers to it': ({ id }) => hers.post(path, { assignee: 'usr_ada', parent: id }),
  'create in a table without rules': ({ id }) => hers.post('/tables/notes/records', { task: id }),
  'update that refers to it': ({ id }) =>
    hers.patch(`/tables/notes/records/${note.id}`, { text: 'x', task: `${id}` }),
  'bulk create that refers to it': ({ id }) =>
    hers.post('/tables/notes/records/bulk', { records: [{}, { task: id }] }),
  'bulk update that refers to it': ({ id }) =>
    hers.patch('/tables/notes/records/bulk', { filter: {}, set: { task: id } }),
  'upsert that refers to it': ({ id }) =>
    put('/tables/notes/records/bulk', { on: ['key'], records: [{ key: 'k', task: id }] }),
  'batch create that refers to it': ({ id }) => batch({ op: 'create', table: 'notes', data: { task: id } }),
  'dry batch that refers to it': ({ id }) => dry({ op: 'create', table: 'notes', data: { task: id } }),
  'import that refers to it': ({ id }) => imported(`text,task\na,${id}\nb,\n`, 'notes'),
}
/** All parts of a response that may differ, without the subject itself. */
function comparable(reply: ApiReply | object, { id, title }: Subject): unknown {
  const seen = 'status' in reply && 'headers' in reply ? { status: reply.status, text: reply.text } : reply
  const text = JSON.stringify(seen).replaceAll(id, '<id>').replaceAll(title, '<title>')
  return text
    .replaceAll(/req_\w+|\\"requestId\\":\\"[^"]*\\"/g, '<request>')
    .replaceAll(/\\"nextCursor\\":\\"[^"]*\\"/g, '')
}

describe('a record that a row rule hides is indistinguishable from an absent one', () => {
  it.each(Object.keys(operations))('in the answer to: %s', async (name) => {
    const operation = operations[name] as Operation
    // The caller's note may keep a task it already refers to, so that reference is cleared first.
    if (name === 'update that refers to it')
      await at.studio.as(owner).patch(`/tables/notes/records/${note.id}`, { task: null })
    const [ofHidden, ofAbsent] = [await operation(hidden), await operation(absent)]
    expect(comparable(ofHidden, hidden)).toEqual(comparable(ofAbsent, absent))
  })

  it('but a record keeps a reference to it that existed before', async () => {
    const kept = await hers.patch(`${path}/${own.id}`, { title: 'hers', parent: hidden.id })
    expect(kept.data(StudioRecord).parent).toBe(hidden.id)
    const made = { op: 'create', table: 'tasks', as: 'first', data: { assignee: 'usr_ada' } }
    const refers = { op: 'create', table: 'tasks', data: { assignee: 'usr_ada', parent: { $as: 'first' } } }
    expect((await hers.post('/tables/batch', { operations: [made, refers] })).status).toBe(200)
  })

  it('except for a unique conflict, which discloses no more than the request contained', async () => {
    for (const answer of [
      await hers.post(path, { assignee: 'usr_ada', code: 'b-1' }),
      await put(`${path}/bulk`, { on: ['code'], records: [{ assignee: 'usr_ada', code: 'b-1' }] }),
    ]) {
      expect([403, 409]).toContain(answer.status)
      for (const kept of [hidden.id, hidden.title, 'usr_bob']) expect(answer.text).not.toContain(kept)
    }
  })

  it('and an import is visible only to its owner and to users that may read every record', async () => {
    const all = await at.studio.headers(owner)
    const response = await fetch(`${at.studio.url}${path}/import`, {
      method: 'POST',
      headers: { ...all, 'content-type': 'text/csv' },
      body: 'title,code\na,b-1\n',
    })
    const { data } = (await response.json()) as { data: { id: string } }
    expect((await at.studio.as(owner).get(`/tables/tasks/imports/${data.id}`)).status).toBe(200)
    expect((await hers.get(`/tables/tasks/imports/${data.id}`)).status).toBe(404)
  })
})
