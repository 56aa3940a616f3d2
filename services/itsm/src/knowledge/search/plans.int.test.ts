import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { connect, type Database } from '@opsplane/postgres'
import { startTestService, type TestService } from '@opsplane/testing'
import { sql } from 'drizzle-orm'
import { itsm } from '../../service.js'
import { analyse } from './analysis.js'
import { exactLeg, textLeg, trigramLeg } from './lexical-legs.js'

let service: TestService
let database: Database
const tenant = { workspaceId: 'ws_plans', environment: 'production' } as const

beforeAll(async () => {
  service = await startTestService(itsm)
  database = connect(service.adminUrl, { schema: 'itsm', max: 2 })
  await service.sql`
    insert into knowledge_published (id, workspace_id, environment, version, state)
    select 'art_' || n, ${tenant.workspaceId}, 'production', 1, json_build_object(
      'id', 'art_' || n, 'number', 'KB-' || n, 'title', 'Article ' || left(md5(n::text), 10), 'summary', null,
      'body', (select string_agg(md5((n * 31 + word)::text), ' ') from generate_series(1, 60) word),
      'tags', '[]'::json, 'codes', json_build_array('kb-' || n), 'category', null, 'language', 'en',
      'visibility', 'public', 'validUntil', null, 'publishedAt', '2026-01-01T00:00:00.000Z',
      'createdAt', '2026-01-01T00:00:00.000Z')
    from generate_series(1, 5000) n`
  await service.sql`vacuum analyze knowledge_published`
})
afterAll(async () => {
  await database?.close()
  await service?.stop()
})

it('searches 5,000 articles through an index in every lexical leg', async () => {
  const now = '2026-03-02T10:00:00.000Z'
  const scope = { tenant, writer: false, now, filters: {}, excluded: [] }
  const [word] =
    await service.sql`select left(md5('4242'), 10) as known, overlay(left(md5('4242'), 10) placing 'z' from 9) as misspelt`
  const analysis = await analyse(database.db, tenant, `${word?.known} KB-4242`, undefined)
  const misspelt = { ...analysis, words: [String(word?.misspelt)], codes: [] }
  const legs = [
    ['knowledge_published_codes_idx', exactLeg(database.db, scope, analysis)],
    ['knowledge_published_search_idx', textLeg(database.db, scope, analysis)],
    ['knowledge_published_fuzzy_idx', trigramLeg(database.db, scope, misspelt)],
  ] as const
  for (const [index, leg] of legs) {
    const plan = await database.db.execute(sql`explain ${leg.getSQL()}`)
    expect(JSON.stringify([...plan])).toContain(index)
    expect((await leg).map(({ id }) => id)).toContain('art_4242')
  }
})
