import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { formatRole, readIdentity, recordLocation, toInstallation } from '@opsplane/postgres'
import { shortenIdleIntervals } from '@opsplane/runtime'
import postgres from 'postgres'
import { measureFixture } from './jest/profile.js'

export interface TestDatabase {
  url: string
  drop(): Promise<void>
}

shortenIdleIntervals(10)

const OBJECT_IN_USE = '55006'
const IN_USE_RETRIES = 100
const IN_USE_DELAY_MS = 50
const MAX_NAME_LENGTH = 63

/** The superuser's URL of the run's Postgres. */
export function testPostgresUrl(): string {
  return required('TEST_DATABASE_URL')
}

/**
 * The password of every service's role. Roles belong to the run's Postgres rather than to one database: a test file
 * that changed a password would lock out the services of all others.
 */
export const testRolePassword = 'test'

/** The installation of every database of the run, because all of them share the roles of the server. */
export const testInstallation = toInstallation('tester')

/** Identity used to provision services. */
export const testLogin = { password: testRolePassword, installation: testInstallation }

/** The role of a service, or one it created, on the run's Postgres. */
export const testRole = (name: string): string => formatRole(testInstallation, name)

/** The URL of the run's NATS. */
export function testNatsUrl(): string {
  return required('TEST_NATS_URL')
}

/** A prefix for streams and subjects that separates test files on the shared NATS. */
export function uniquePrefix(): string {
  return `t${randomBytes(6).toString('hex')}`
}

/**
 * Creates a database for one test file, empty or as a copy of a template. It records its
 * own location unless `isInPlace` is `false`.
 */
export function createDatabase(
  template?: string,
  { isInPlace = true }: { isInPlace?: boolean } = {},
): Promise<TestDatabase> {
  return measureFixture('database', async () => {
    const name = newName()
    await asAdmin((sql) => createFrom(sql, name, template))
    const database = testDatabase(name)
    if (template !== undefined && isInPlace) await asAdmin(recordPlaceWhereRecorded, database.url)
    return database
  })
}

async function recordPlaceWhereRecorded(sql: postgres.Sql): Promise<void> {
  const { record } = await readIdentity(sql)
  if (record) await recordLocation(sql)
}

/** Creates an empty database with the LC_CTYPE C, which only knows ASCII letters. */
export async function createAsciiDatabase(): Promise<TestDatabase> {
  const name = newName()
  await asAdmin((sql) => sql`create database ${sql(name)} template template0 lc_ctype 'C'`)
  return testDatabase(name)
}

const newName = () => `${runPrefix()}${randomBytes(6).toString('hex')}`

function testDatabase(name: string): TestDatabase {
  return {
    url: urlOf(name),
    drop: () => measureFixture('end of a database', () => asAdmin((sql) => dropIfThere(sql, name))),
  }
}

/** Templates this process has already found ready. */
const readyTemplates = new Set<string>()

/**
 * Returns the name of a database prepared by `migrate`, which `createDatabase` copies. The first test file of the run
 * prepares it, and the others wait. `migrate` must close its connections, because a database in use cannot be copied.
 */
export async function templateDatabase(
  key: string,
  migrate: (url: string) => Promise<void>,
): Promise<string> {
  const name = `${runPrefix()}template_${key.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_')}`
  if (name.length > MAX_NAME_LENGTH) throw new Error(`The template key ${key} is too long`)
  if (!readyTemplates.has(name)) await measureFixture('template', () => prepareTemplate(name, migrate))
  readyTemplates.add(name)
  return name
}

const prepareTemplate = (name: string, migrate: (url: string) => Promise<void>) =>
  asAdmin(async (sql) => {
    // Owned by this session, so the lock is released if a test file dies in between.
    await sql`select pg_advisory_lock(hashtext(${name}))`
    const [existing] = await sql`select datistemplate from pg_database where datname = ${name}`
    if (existing?.datistemplate) return
    await dropIfThere(sql, name)
    await createFrom(sql, name)
    await migrate(urlOf(name))
    // Marked last: only a finished template counts.
    await sql`alter database ${sql(name)} is_template true`
  })

/** Drops the databases this run left on a server it did not start. */
export async function dropRunDatabases(): Promise<void> {
  await asAdmin(async (sql) => {
    const databases = await sql<{ datname: string }[]>`
      select datname from pg_database where starts_with(datname, ${runPrefix()})`
    for (const { datname } of databases) {
      await sql`alter database ${sql(datname)} is_template false`
      await dropIfThere(sql, datname)
    }
  })
}

/** Copies files: without flushes this takes half the work of a copy through the WAL. */
async function createFrom(sql: postgres.Sql, name: string, template = 'template1'): Promise<void> {
  await onceLeft(() => sql`create database ${sql(name)} template ${sql(template)} strategy file_copy`)
}

async function dropIfThere(sql: postgres.Sql, name: string): Promise<void> {
  await onceLeft(() => sql`drop database if exists ${sql(name)} with (force)`)
}

// A connection that was just closed takes a moment to leave its database.
async function onceLeft(statement: () => PromiseLike<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await statement()
      return
    } catch (error) {
      const inUse = error instanceof postgres.PostgresError && error.code === OBJECT_IN_USE
      if (!inUse || attempt === IN_USE_RETRIES) throw error
      await delay(IN_USE_DELAY_MS)
    }
  }
}

async function asAdmin<Result>(
  use: (sql: postgres.Sql) => Promise<Result>,
  url = testPostgresUrl(),
): Promise<Result> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  try {
    return await use(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

function urlOf(database: string): string {
  const url = new URL(testPostgresUrl())
  url.pathname = `/${database}`
  return url.href
}

function runPrefix(): string {
  return `test_${required('TEST_RUN_ID')}_`
}

function required(name: 'TEST_DATABASE_URL' | 'TEST_NATS_URL' | 'TEST_RUN_ID'): string {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set: run the tests through jest, whose set-up provides it`)
  return value
}
