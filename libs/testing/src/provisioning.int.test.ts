import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { provisionService } from '@opsplane/eventstore'
import postgres from 'postgres'
import { createDatabase, type TestDatabase, testLogin, testRole } from './test-env.js'

let migrationsDir: string
let databases: TestDatabase[]

beforeAll(async () => {
  migrationsDir = mkdtempSync(join(tmpdir(), 'opsplane-migrations-'))
  mkdirSync(join(migrationsDir, 'meta'))
  const journal = { version: '7', dialect: 'postgresql', entries: [] }
  writeFileSync(join(migrationsDir, 'meta/_journal.json'), JSON.stringify(journal))
  databases = await Promise.all(Array.from({ length: 6 }, () => createDatabase()))
})
afterAll(async () => {
  rmSync(migrationsDir, { recursive: true, force: true })
  await Promise.all(databases.map((database) => database.drop()))
})

test('several databases of one cluster can be provisioned concurrently for the same service', async () => {
  for (let round = 0; round < 5; round++) {
    const urls = await Promise.all(
      databases.map(({ url: adminUrl }) =>
        provisionService({ adminUrl, service: 'crowded', ...testLogin, migrationsDir }),
      ),
    )
    for (const url of urls) expect(await currentUser(url)).toBe(testRole('crowded'))
  }
})

async function currentUser(url: string): Promise<unknown> {
  const sql = postgres(url, { max: 1 })
  const [row] = await sql`select current_user as name`
  await sql.end({ timeout: 1 })
  return row?.name
}
