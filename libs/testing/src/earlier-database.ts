import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type Database, provisionService } from '@opsplane/postgres'
import { z } from 'zod'
import { createDatabase, testRolePassword } from './test-env.js'

export interface EarlierDatabaseOptions {
  service: string
  migrationsDir: string
  /** Tag of the first migration it does not have yet, as in `_journal.json`. */
  before: string
}

/** A database as an earlier version of a service has left it. */
export interface EarlierDatabase {
  /** As the owner of the schema. */
  owner: Database
  /** Brings it up to date; may be repeated. Returns the URL the service connects with. */
  upgrade(): Promise<string>
  drop(): Promise<void>
}

export async function createEarlierDatabase(options: EarlierDatabaseOptions): Promise<EarlierDatabase> {
  const { service, migrationsDir, before } = options
  const database = await createDatabase()
  const provision = (from: string) =>
    provisionService({ adminUrl: database.url, service, password: testRolePassword, migrationsDir: from })
  const directory = await mkdtemp(join(tmpdir(), 'migrations-'))
  try {
    await cp(migrationsDir, directory, { recursive: true })
    await keepEarlier(join(directory, 'meta', '_journal.json'), before)
    await provision(directory)
  } finally {
    await rm(directory, { recursive: true })
  }
  const owner = connect(database.url, { schema: service, max: 2 })
  return {
    owner,
    upgrade: () => provision(migrationsDir),
    async drop() {
      await owner.close()
      await database.drop()
    },
  }
}

const Journal = z.looseObject({ entries: z.array(z.looseObject({ tag: z.string() })) })

async function keepEarlier(path: string, before: string): Promise<void> {
  const journal = Journal.parse(JSON.parse(await readFile(path, 'utf8')))
  const first = journal.entries.findIndex(({ tag }) => tag === before)
  if (first < 0) throw new Error(`There is no migration ${before}`)
  await writeFile(path, JSON.stringify({ ...journal, entries: journal.entries.slice(0, first) }))
}
