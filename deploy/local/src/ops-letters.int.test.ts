import { Writable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Article, ConfigurationItem, Incident, KnowledgeResults } from '@opsplane/contracts'
import { itsm } from '@opsplane/itsm'
import { createLogger } from '@opsplane/runtime'
import {
  createAsciiDatabase,
  startTestService,
  type TestService,
  testPrincipal,
  testRolePassword,
  waitFor,
} from '@opsplane/testing'
import { foldCase } from './ops-letters.js'
import { findTarget } from './ops-target.js'

let service: TestService
let logged = ''

beforeAll(async () => {
  const destination = new Writable({
    write(chunk, _encoding, done) {
      logged += chunk
      done()
    },
  })
  const log = createLogger({ service: 'itsm', level: 'warn', destination })
  service = await startTestService(itsm, { overrides: { log }, database: await createAsciiDatabase() })
})
afterAll(() => service?.stop())

const task = (databaseUrl: string, said: string[] = []) => ({
  target: findTarget({ home: 'nowhere', databaseUrl }, {}),
  say: (line: string) => void said.push(line),
})

test('a service that searches says at its start that it knows the letters of ASCII only, and how to change it', async () => {
  await waitFor(() => logged.includes('opsplane fold-case'))
})

test('what was written before is found in any case after, and the services go on', async () => {
  const author = testPrincipal()
  const reviewer = { ...author, userId: 'usr_2', actor: { ...author.actor, id: 'usr_2' } }
  const [api, other] = [service.as(author), service.as(reviewer)]
  await api.post('/itsm/incidents', { title: 'ПРИНТЕР сломан' })
  await api.post('/cmdb/items', { name: 'ПРИНТЕР-7', class: 'server' })
  const { id } = (
    await api.post('/knowledge', { title: 'ПРИНТЕРЫ', body: 'Откалибруйте их.', language: 'ru' })
  ).data(Article)
  await api.post(`/knowledge/${id}/submit`)
  await other.post(`/knowledge/${id}/approve`)
  const found = async () => ({
    incidents: (await api.get(`/itsm/incidents?q=${encodeURIComponent('принтер')}`)).page(Incident).items
      .length,
    items: (await api.get(`/cmdb/items?q=${encodeURIComponent('интер')}`)).page(ConfigurationItem).items
      .length,
    articles: (await api.post('/knowledge/search', { query: 'принтеров' })).data(KnowledgeResults).results
      .length,
  })
  expect(await found()).toEqual({ incidents: 0, items: 0, articles: 0 })

  const said: string[] = []
  const [rebuilt, ...others] = await foldCase(task(service.adminUrl, said))

  expect([rebuilt?.service, others]).toEqual(['itsm', []])
  expect(said[0]).toContain('Postgres knows all letters now')
  expect(await waitFor(() => found().catch(() => false as const))).toEqual({
    incidents: 1,
    items: 1,
    articles: 1,
  })
  expect((await foldCase(task(service.adminUrl, said)))[0]).toEqual(rebuilt)
  expect(said).toContain('Postgres knew all letters before; its sessions were ended')
})

test('all tables with words or trigrams are among those that are folded anew', async () => {
  const folded = new Set(itsm.tables)
  const rows = await service.sql<{ table: string }[]>`
    select distinct relname as table from pg_attribute join pg_class c on c.oid = attrelid
    where relnamespace = 'itsm'::regnamespace and relkind = 'r' and (atttypid = 'tsvector'::regtype or c.oid in (
      select indrelid from pg_index join pg_opclass o on o.oid = any(indclass) where opcname like '%trgm_ops'))`
  expect(rows.length).toBeGreaterThan(10)
  expect(rows.filter(({ table }) => !folded.has(table))).toEqual([])
})

test('who is no superuser is told so', async () => {
  const database = await createAsciiDatabase()
  const url = new URL(service.adminUrl)
  try {
    Object.assign(url, {
      username: 'itsm',
      password: testRolePassword,
      pathname: new URL(database.url).pathname,
    })
    await expect(foldCase(task(url.href))).rejects.toMatchObject({
      reason: 'refused',
      message: expect.stringContaining('Name a superuser'),
    })
  } finally {
    await database.drop()
  }
})
