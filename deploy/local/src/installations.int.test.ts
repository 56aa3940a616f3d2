import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { backendNames, newId } from '@opsplane/contracts'
import {
  dataDatabaseName,
  formatRole,
  type Installation,
  InstallationError,
  newInstallation,
  openClient,
  readIdentity,
  toInstallation,
  urlAs,
} from '@opsplane/postgres'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@opsplane/postgres/embedded'
import { isLongTier } from '@opsplane/testing'
import { type AdoptTask, adopt } from './adopt/adopt.js'
import { toDatabaseUrl, withAdmin } from './data-database.js'
import { buildDatabaseUrls, provisionAll } from './platform.js'
import { backends } from './services.js'

const folder = mkdtempSync(join(tmpdir(), 'opsplane-installations-'))
let server: EmbeddedPostgres
/** Creating an installation applies every migration of every service, so all tests share the two. */
let one: Awaited<ReturnType<typeof install>>
let other: typeof one
/** All rights of the first installation before the second one existed. */
let rightsOfOne: object[]
beforeAll(async () => {
  server = await startEmbeddedPostgres({
    dataDir: join(folder, 'postgres'),
    // Only the client is killed here, so durability is not needed.
    flags: ['fsync=off', 'full_page_writes=off'],
  })
  one = await install('one')
  rightsOfOne = await allRights(one.url, dataOf(one.installation), one.installation)
  other = await install('other')
})
afterEach(() => {
  delete process.env.DATA_DATABASE_URL
})
afterAll(async () => {
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const passwordsOf = (word: string) =>
  Object.fromEntries(backendNames.map((name) => [name, `${word}-${name}`]))
const admin = <T>(work: (sql: ReturnType<typeof openClient>) => Promise<T>, url = server.url) =>
  withAdmin(url, work)
const databaseNamed = async (name: string): Promise<string> => {
  await admin((sql) => sql`create database ${sql(name)}`)
  return toDatabaseUrl(server.url, name)
}
const dataOf = (installation: Installation) => toDatabaseUrl(server.url, dataDatabaseName(installation))

/** Creates an installation with a tenant's table, whose rows are captured. */
async function install(name: string) {
  const [url, passwords, installation] = [await databaseNamed(name), passwordsOf(name), newInstallation()]
  const urls = await provisionAll(url, passwords, installation)
  await makeTable(dataOf(installation))
  return { url, passwords, installation, urls }
}

async function makeTable(dataUrl: string): Promise<void> {
  await admin(async (sql) => {
    await sql`set search_path = database_studio`
    const verifiers = Array.from(
      { length: 3 },
      () => `SCRAM-SHA-256$1:${'a'.repeat(24)}$${'b'.repeat(44)}:${'c'.repeat(44)}`,
    )
    const [space] = await sql<{ schema: string; owner: string }[]>`
      select schema_name as schema, space_role(schema_name, 'owner') as owner
      from add_space(${newId('space')}, 'ws_1', 'production', ${verifiers})`
    if (!space) throw new Error('no space was made')
    await sql.begin(async (tx) => {
      await tx.unsafe(`set local role ${space.owner}; create table ${space.schema}.notes (id text primary key, version integer not null,
        created_at timestamptz(3) not null, updated_at timestamptz(3) not null, text text);
        create view ${space.schema}.texts as select text from ${space.schema}.notes; set local role none;
        select attach_capture('${newId('table')}', '${space.schema}', 'notes', 'notes')`)
    })
  }, dataUrl)
}

/** Everything that an installation's roles own or may do in a database, by role names without the prefix. */
const rightsIn = (url: string, { rolePrefix }: Installation) =>
  admin(
    (sql) => sql`
      with own as (select oid, substr(rolname, length(${rolePrefix}) + 1) as name from pg_roles
        where starts_with(rolname, ${rolePrefix}) and (${rolePrefix} <> '' or rolname ~ '^(s_|studio_tenant)' or rolname = any(${backendNames.map((name) => name.replaceAll('-', '_'))}))),
      objects as (
        select 'table ' || oid::regclass::text as object, relowner as owner, relacl as acl from pg_class where relpersistence <> 't'
        union all select 'routine ' || oid::regprocedure::text, proowner, proacl from pg_proc
        union all select 'schema ' || nspname, nspowner, nspacl from pg_namespace
        union all select 'database', datdba, datacl from pg_database where datname = current_database()
        union all select 'default ' || defaclnamespace::regnamespace::text || defaclobjtype::text, defaclrole, defaclacl from pg_default_acl)
      select object, 'owner' as right, own.name as role from objects join own on own.oid = owner
      union all select object, a.privilege_type, own.name from objects cross join lateral aclexplode(acl) a join own on own.oid = a.grantee
      union all select 'member', o.name, own.name from pg_auth_members m join own on own.oid = m.member join own o on o.oid = m.roleid
      union all select 'attributes', rolcanlogin::text || rolinherit, own.name from own join pg_roles r on r.oid = own.oid
      order by 1, 2, 3`,
    url,
  )
const allRights = async (main: string, data: string, installation: Installation) => [
  ...(await rightsIn(main, installation)),
  ...(await rightsIn(data, installation)),
]

async function logIn(url: string): Promise<string> {
  const sql = openClient(url, { schema: 'public', max: 1 })
  try {
    const [row] = await sql<{ name: string }[]>`select current_user as name`
    return String(row?.name)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** Changes the databases to the state of a version without installations. */
async function makeOlder(urls: readonly string[]): Promise<void> {
  for (const url of urls)
    await admin(
      (sql) =>
        sql
          .unsafe(
            'drop event trigger if exists studio_guard; drop event trigger if exists studio_guard_drop; drop schema opsplane cascade',
          )
          .simple(),
      url,
    )
  await admin(async (sql) => {
    const roles = await sql<{ name: string }[]>`
      select rolname as name from pg_roles where shobj_description(oid, 'pg_authid') is not null and rolname !~ '^opsplane_|^pg_'`
    for (const { name } of roles) await sql`comment on role ${sql(name)} is null`
  })
}

describe('two installations on one server', () => {
  test('have separate passwords, roles and data', async () => {
    for (const { urls, installation } of [one, other])
      for (const name of backendNames)
        expect(await logIn(urls[name])).toBe(formatRole(installation, backends[name].schema))
    expect(await allRights(one.url, dataOf(one.installation), one.installation)).toEqual(rightsOfOne)
    // Neither has a right in a database of the other.
    for (const [mine, theirs] of [
      [one, other],
      [other, one],
    ] as const) {
      expect(await rightsIn(theirs.url, mine.installation)).toEqual(
        expect.not.arrayContaining([expect.objectContaining({ right: 'SELECT' })]),
      )
      await expect(
        logIn(
          urlAs(
            dataOf(theirs.installation),
            formatRole(mine.installation, 'database_studio'),
            mine.passwords['database-studio'] ?? '',
          ),
        ),
      ).rejects.toThrow('permission denied')
    }
  })

  test('provisioning with another installation id is refused before anything changes', async () => {
    const stranger = newInstallation()
    const before = await allRights(one.url, dataOf(one.installation), one.installation)
    await expect(provisionAll(one.url, passwordsOf('stranger'), stranger)).rejects.toThrow(
      `belongs to installation ${one.installation.id}, and this is installation ${stranger.id}`,
    )
    expect(await allRights(one.url, dataOf(one.installation), one.installation)).toEqual(before)
    expect(await logIn(one.urls.itsm)).toBe(formatRole(one.installation, 'itsm'))
    expect(
      await admin(
        (sql) => sql`select rolname from pg_roles where starts_with(rolname, ${stranger.rolePrefix})`,
      ),
    ).toEqual([])
  })
})

test('no function, view, policy or trigger names a role of the installation', async () => {
  const { url, installation } = one
  for (const database of [url, dataOf(installation)]) {
    const found = await admin(
      (sql) => sql`
        select oid::regprocedure::text as name from pg_proc where prosrc like ${`%${installation.rolePrefix}%`}
        union all select oid::regclass::text from pg_class where relkind in ('v', 'm') and pg_get_viewdef(oid) like ${`%${installation.rolePrefix}%`}
        union all select tgname::text from pg_trigger where pg_get_triggerdef(oid) like ${`%${installation.rolePrefix}%`}
        union all select polname::text from pg_policy`,
      database,
    )
    expect(found).toEqual([])
  }
})

describe('an installation of an earlier version', () => {
  test('continues with its existing role names, and is adopted by one command, also after SIGKILL', async () => {
    const url = await databaseNamed('older')
    const passwords = passwordsOf('older')
    const none = { id: 'unused', rolePrefix: '' }
    await provisionAll(url, passwords, none)
    await makeTable(dataOf(none))
    await makeOlder([url, dataOf(none)])
    const installation = newInstallation()
    const urls = await provisionAll(url, passwords, installation)
    expect(await logIn(urls.itsm)).toBe('itsm')
    const before = await allRights(url, dataOf(none), none)
    expect(before.length).toBeGreaterThan(100)

    // Another installation of that version on this server would have the same roles.
    const second = await databaseNamed('older_second')
    await expect(
      provisionAll(second, passwordsOf('second'), { ...newInstallation(), rolePrefix: '' }),
    ).rejects.toThrow('belongs to installation')

    const kept: Installation[] = []
    const task: AdoptTask = {
      adminUrl: url,
      passwords,
      installationId: installation.id,
      keep: (each) => kept.push(each),
    }
    await adoptKilled({ adminUrl: url, passwords, installationId: installation.id }, early)
    const { roles } = await adopt(task)
    expect(kept.every((each) => each.id === installation.id)).toBe(true)
    expect(roles.find(({ service }) => service === 'itsm')).toEqual({
      service: 'itsm',
      role: formatRole(installation, 'itsm'),
      database: 'older',
    })
    expect(await allRights(url, dataOf(installation), installation)).toEqual(before)
    for (const name of backendNames)
      expect(await logIn(buildDatabaseUrls(url, passwords, installation)[name])).toBe(
        formatRole(installation, backends[name].schema),
      )
    expect(
      await admin((sql) => sql`select datname from pg_database where datname = 'opsplane_data'`),
    ).toEqual([])
    expect(await adopt(task)).toMatchObject({ installation })
    await provisionAll(url, passwords, installation)
  })
})

describe('a copy of the databases on the server of the original', () => {
  test('is refused, and becomes a separate installation once it is adopted', async () => {
    const original = one
    const data = dataOf(original.installation)
    // The rights a second provisioning grants on the tables of the first are the same for both.
    await provisionAll(original.url, original.passwords, original.installation)
    await admin(async (sql) => {
      await sql`create database copy template one`
      await sql`create database copied_data template ${sql(dataDatabaseName(original.installation))}`
    })
    const before = await allRights(original.url, data, original.installation)
    const copy = toDatabaseUrl(server.url, 'copy')
    const refused = provisionAll(copy, original.passwords, original.installation)
    await expect(refused).rejects.toThrow(InstallationError)
    await expect(refused).rejects.toThrow('opsplane adopt')
    await expect(
      adopt({
        adminUrl: copy,
        passwords: original.passwords,
        installationId: original.installation.id,
        moved: true,
      }),
    ).rejects.toThrow(`on the same server, in one`)
    // A copy of the main database alone would continue to use the original's data.
    await expect(
      adopt({ adminUrl: copy, passwords: original.passwords, installationId: original.installation.id }),
    ).rejects.toThrow('DATA_DATABASE_URL')

    process.env.DATA_DATABASE_URL = toDatabaseUrl(server.url, 'copied_data')
    const passwords = passwordsOf('copy')
    const task = { adminUrl: copy, passwords, installationId: original.installation.id }
    await adoptKilled(task, late)
    const { installation } = await adopt(task)
    expect(installation.id).not.toBe(original.installation.id)
    expect(await allRights(copy, process.env.DATA_DATABASE_URL, installation)).toEqual(before)
    const urls = buildDatabaseUrls(copy, passwords, installation)
    for (const name of backendNames)
      expect(await logIn(urls[name])).toBe(formatRole(installation, backends[name].schema))
    await provisionAll(copy, passwords, installation)
    delete process.env.DATA_DATABASE_URL

    // The original keeps its rights, and has none in the copies.
    expect(await allRights(original.url, data, original.installation)).toEqual(before)
    for (const name of backendNames)
      expect(await logIn(original.urls[name])).toBe(formatRole(original.installation, backends[name].schema))
    for (const place of [copy, toDatabaseUrl(server.url, 'copied_data')]) {
      const [left] = await admin(
        (
          sql,
        ) => sql`select count(*)::int as count from pg_shdepend d join pg_roles r on r.oid = d.refobjid join pg_database b on b.oid = d.dbid
          where b.datname = current_database() and starts_with(r.rolname, ${original.installation.rolePrefix})`,
        place,
      )
      expect(left).toEqual({ count: 0 })
    }
    await provisionAll(original.url, original.passwords, original.installation)
  })

  test('keeps its installation id with --moved if the original no longer exists', async () => {
    const { url, passwords, installation } = other
    await admin(async (sql) => {
      await sql`create database arrived template other`
      await sql`drop database other`
    })
    const arrived = toDatabaseUrl(server.url, 'arrived')
    await expect(provisionAll(url.replace('other', 'arrived'), passwords, installation)).rejects.toThrow(
      '--moved',
    )
    const adopted = await adopt({
      adminUrl: arrived,
      passwords,
      installationId: installation.id,
      moved: true,
    })
    expect(adopted.installation).toEqual(installation)
    const urls = await provisionAll(arrived, passwords, installation)
    expect(await logIn(urls.itsm)).toBe(formatRole(installation, 'itsm'))
  })
})

/** Numbers of statements after which an adoption is killed; one of them in each test, all of them in the long tier. */
const instants = [5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 70, 80, 100, 130]
const [early, late] = isLongTier() ? [instants, instants] : [[15], [40]]

/** Runs adoptions that are each ended by SIGKILL after a number of statements. */
async function adoptKilled(
  task: Omit<AdoptTask, 'keep' | 'say'>,
  killedAfter: readonly number[],
): Promise<void> {
  for (const statements of killedAfter) {
    const program = new URL('./fixture/adopt-killed.js', import.meta.url)
    const child = spawn(process.execPath, [program.pathname], {
      env: { ...process.env, ADOPT: JSON.stringify(task), STATEMENTS: String(statements) },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const [, signal] = (await once(child, 'exit')) as [number | null, string | null]
    expect(signal).toBe('SIGKILL')
    const { record } = await admin(readIdentity, task.adminUrl)
    expect(record).toBeDefined()
  }
}

test('a new installation id results in a valid role prefix', () => {
  expect(toInstallation(newInstallation().id).rolePrefix).toMatch(/^opsplane_[a-z][a-z0-9]{5}_$/)
})
