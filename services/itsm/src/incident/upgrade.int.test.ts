import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { connect, type Database, provisionService } from '@opsplane/postgres'
import { createDatabase, type TestDatabase, testRolePassword } from '@opsplane/testing'
import { z } from 'zod'
import * as itsm from '../service.js'
import { incidents as samples } from './sample-incidents.js'

const lastBefore = 6
let directory: string
let target: TestDatabase
let owner: Database
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'migrations-'))
  target = await createDatabase()
  owner = connect(target.url, { schema: 'itsm', max: 1 })
})
afterAll(async () => {
  await owner?.close()
  await target?.drop()
  await rm(directory, { recursive: true })
})

const provision = (migrationsDir: string) =>
  provisionService({ adminUrl: target.url, service: 'itsm', password: testRolePassword, migrationsDir })

/** The migrations up to the one before queues had an order. */
async function earlierMigrations(): Promise<string> {
  await cp(itsm.migrationsDir, directory, { recursive: true })
  const path = join(directory, 'meta', '_journal.json')
  const Journal = z.looseObject({ entries: z.array(z.looseObject({ idx: z.int() })) })
  const journal = Journal.parse(JSON.parse(await readFile(path, 'utf8')))
  const entries = journal.entries.filter(({ idx }) => idx <= lastBefore)
  await writeFile(path, JSON.stringify({ ...journal, entries }))
  return directory
}

it('incidents from before queues had an order take their place in them', async () => {
  await provision(await earlierMigrations())
  const { priority: _priority, channel: _channel, ...withoutPriority } = samples.open
  const fields = { severity: 'critical', ciId: 'ci_1', callerId: 'usr_1', category: 'network' }
  const states = [
    { ...samples.open, ...fields, id: 'inc_urgent', number: 'INC-1', priority: 'P1', channel: 'phone' },
    { ...withoutPriority, id: 'inc_old', number: 'INC-2', severity: 'medium' },
  ]
  for (const state of states)
    await owner.sql`
      insert into incidents (id, workspace_id, environment, version, state)
      values (${state.id}, 'ws_before', 'production', 1, ${JSON.stringify(state)}::text::json)`

  await provision(itsm.migrationsDir)
  const rows = await owner.sql`
    select id, by_priority, by_severity, ci_id, caller_id, category, channel from incidents order by by_priority`
  const { createdAt } = samples.open
  const none = { ci_id: null, caller_id: null, category: null, channel: null }
  expect([...rows]).toEqual([
    {
      ...{ id: 'inc_urgent', by_priority: `1 ${createdAt}`, by_severity: `1 ${createdAt}` },
      ...{ ci_id: 'ci_1', caller_id: 'usr_1', category: 'network', channel: 'phone' },
    },
    { id: 'inc_old', by_priority: `3 ${createdAt}`, by_severity: `3 ${createdAt}`, ...none },
  ])
})
