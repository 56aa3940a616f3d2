import { type BackendName, backendNames, type NatsNames } from '@opsplane/contracts'
import { ForeignStreamError, markStreams } from '@opsplane/nats'
import {
  claimInstallation,
  type DatabaseIdentity,
  dataDatabaseName,
  formatRole,
  type Installation,
  isAtRecordedLocation,
  moveRoles,
  newInstallation,
  type openClient,
  quoteIdentifier,
  readIdentity,
  toInstallation,
} from '@opsplane/postgres'
import { databaseIn, toDatabaseUrl, withAdmin } from '../data-database.js'
import { explainDatabaseError, OpsError, withNats } from '../ops-target.js'
import { provisionAll } from '../platform.js'
import { backends } from '../services.js'

export interface AdoptTask {
  /** URL of the main database, as a superuser. */
  adminUrl: string
  /** Passwords of the service roles, by service. */
  passwords: Record<string, string>
  /** The installation id in the services' secrets, if they have one. */
  installationId?: string | undefined
  /** The original of this copied database no longer exists, so the installation keeps its id. */
  moved?: boolean
  /** NATS server whose streams are marked; `replace` takes over streams of another installation. */
  nats?: { url: string; names: NatsNames; replace: boolean } | undefined
  /** Called before anything is changed, to store the id with the secrets. */
  keep?(installation: Installation): void
  say?(line: string): void
}

export interface AdoptedRole {
  service: BackendName
  role: string
  database: string
}

export interface Adopted {
  installation: Installation
  /** The role with which each service connects from now on. */
  roles: AdoptedRole[]
  /** Streams that were marked. */
  streams: string[]
}

/**
 * Gives the databases an installation of their own, with names that no other installation uses: roles and the data
 * database of an earlier version are renamed; a copy on the server of its original receives its own id, roles and
 * rights. Can be repeated, and resumes after an interruption at any point; services of the installation must be
 * stopped meanwhile. Throws OpsError.
 */
export async function adopt(task: AdoptTask): Promise<Adopted> {
  const { adminUrl, say = () => {} } = task
  try {
    const plan = await planOf(task)
    const { target, main, data } = plan
    if (!plan.isDone) {
      await refuseInUse(plan)
      task.keep?.(target)
      for (const { url } of [data, main]) await begin(url, target)
      await move(data, plan, say)
      await renameDataDatabase(adminUrl, plan, say)
      await move(main, plan, say)
      await provisionAll(adminUrl, task.passwords, target)
      for (const { url } of [databaseAfter(plan), main])
        await withAdmin(url, (sql) => sql`update opsplane.installation set adopting = null`)
    }
    say(`The databases are those of installation ${target.id}.`)
    return {
      installation: target,
      roles: rolesOf(adminUrl, target),
      streams: await markedStreams(task, target),
    }
  } catch (error) {
    if (error instanceof ForeignStreamError) throw new OpsError('refused', error.message)
    throw explainDatabaseError(error, adminUrl)
  }
}

type Admin = ReturnType<typeof openClient>

interface Place {
  url: string
  identity: DatabaseIdentity
  /** The installation whose prefix the names in the database have so far. */
  former: Installation
  services: BackendName[]
}

interface Plan {
  target: Installation
  main: Place
  data: Place
  /** Whether the database is on the same server as the original it was copied from, or may be. */
  isCopy: boolean
  isDone: boolean
  databases: string[]
}

async function planOf({ adminUrl, installationId, moved = false }: AdoptTask): Promise<Plan> {
  let identity = await withAdmin(adminUrl, readIdentity)
  if (!identity.record) {
    await claimInstallation(
      adminUrl,
      installationId === undefined ? undefined : toInstallation(installationId),
    )
    identity = await withAdmin(adminUrl, readIdentity)
  }
  const { record } = identity
  if (!record) throw new Error('the record of the installation is gone')
  const inPlace = isAtRecordedLocation(identity)
  if (moved && !inPlace) await refuseIfOriginalExists(adminUrl, identity)
  const isCopy = !inPlace && !moved
  const target = targetOf({ record, isCopy, installationId })
  const main = { url: adminUrl, identity, former: record, services: servicesIn(false) }
  const data = await dataPlace(adminUrl, main, target, isCopy)
  const isDone = [main, data].every(({ identity: { record: found }, identity: each }) => {
    const isNamed = found?.id === target.id && found.rolePrefix === target.rolePrefix
    return isNamed && found.adopting === null && isAtRecordedLocation(each)
  })
  const databases = [main, data].map((place) => place.identity.here.databaseOid)
  return { target, main, data, isCopy, isDone, databases }
}

function targetOf(options: {
  record: Installation & { adopting: string | null }
  isCopy: boolean
  installationId: string | undefined
}): Installation {
  const { record, isCopy, installationId } = options
  if (record.adopting !== null) return toInstallation(record.adopting)
  if (installationId !== undefined && installationId !== record.id) return toInstallation(installationId)
  return isCopy ? newInstallation() : toInstallation(record.id)
}

const servicesIn = (inData: boolean): BackendName[] =>
  backendNames.filter(
    (name) =>
      (databaseIn({ rolePrefix: '' }, name, 'postgres://main/main') !== 'postgres://main/main') === inData,
  )

/** The database of the tenants' data, under its name before or after the adoption. */
async function dataPlace(
  adminUrl: string,
  main: Place,
  target: Installation,
  isCopy: boolean,
): Promise<Place> {
  const url = await dataUrl(adminUrl, [main.former, target])
  const record = main.former
  let identity = await withAdmin(url, readIdentity)
  if (!identity.record && record.rolePrefix === '') {
    await claimInstallation(url, { id: record.id, rolePrefix: '' })
    identity = await withAdmin(url, readIdentity)
  }
  const { database, record: found } = identity
  const isKnown = found && (found.id === record.id || found.id === target.id)
  const isOriginals =
    isCopy && found?.id === record.id && found.adopting !== target.id && isAtRecordedLocation(identity)
  if (!isKnown || isOriginals)
    throw new OpsError(
      'refused',
      `The database of the tenants' data, ${database}, is that of installation ${found?.id ?? 'none'} itself. Copy it as ` +
        'well, and name the copy in DATA_DATABASE_URL.',
    )
  return { url, identity, former: found, services: servicesIn(true) }
}

async function dataUrl(adminUrl: string, names: readonly Installation[]): Promise<string> {
  if (process.env.DATA_DATABASE_URL) return process.env.DATA_DATABASE_URL
  const candidates = names.map(dataDatabaseName)
  const there = await withAdmin(
    adminUrl,
    (sql) =>
      sql<{ name: string }[]>`select datname as name from pg_database where datname = any(${candidates})`,
  )
  const found = candidates.find((name) => there.some((database) => database.name === name))
  if (found !== undefined) return toDatabaseUrl(adminUrl, found)
  throw new OpsError(
    'refused',
    `The server has no database of the tenants' data (${candidates.join(' or ')}): copy it as well, or name it in DATA_DATABASE_URL.`,
  )
}

/** Throws OpsError if the database that was recorded still exists on this server. */
async function refuseIfOriginalExists(adminUrl: string, { here, record }: DatabaseIdentity): Promise<void> {
  if (here.systemIdentifier !== record?.systemIdentifier) return
  const [original] = await withAdmin(
    adminUrl,
    (sql) =>
      sql<{ name: string }[]>`select datname as name from pg_database where oid = ${record.databaseOid}::oid`,
  )
  if (original)
    throw new OpsError(
      'refused',
      `It was not moved: installation ${record.id} is on the same server, in ${original.name}. Leave --moved out.`,
    )
}

/** Throws OpsError if a service is connected. */
async function refuseInUse({ main, data }: Plan): Promise<void> {
  for (const { url, former, services } of [main, data]) {
    const roles = services.map((name) => formatRole(former, backends[name].schema))
    const connected = await withAdmin(
      url,
      (sql) => sql<{ name: string }[]>`select distinct usename as name from pg_stat_activity
        where datname = current_database() and usename = any(${roles})`,
    )
    if (connected.length > 0)
      throw new OpsError(
        'refused',
        `Services are connected (${connected.map(({ name }) => name).join(', ')}): stop all of them first.`,
      )
  }
}

/** From here on no service starts on the database until the adoption is complete. */
const begin = (url: string, { id }: Installation) =>
  withAdmin(url, (sql) => sql`update opsplane.installation set adopting = ${id}`)

/** Changes the roles and the record of one database in one transaction; changes nothing if that was already done. */
async function move(place: Place, plan: Plan, print: (line: string) => void): Promise<void> {
  const { target, databases, isCopy } = plan
  const { former, identity } = place
  await withAdmin(place.url, (sql) =>
    sql.begin(async (tx) => {
      const names = await roleNamesIn(tx, place)
      await tx`update opsplane.installation set id = ${target.id}, role_prefix = ${target.rolePrefix},
        system_identifier = ${identity.here.systemIdentifier}, database_oid = ${identity.here.databaseOid}::oid`
      const moves = names.map((name) => ({ from: formatRole(former, name), to: formatRole(target, name) }))
      await moveRoles(tx, moves, { id: target.id, formerId: former.id, databases, isCopy })
      print(`${identity.database}: ${moves.length} roles are called ${formatRole(target, '…')}`)
    }),
  )
}

async function roleNamesIn(tx: Pick<Admin, 'unsafe'>, { services }: Place): Promise<string[]> {
  const names: string[] = []
  for (const service of services) {
    const { schema, extraSchemas } = backends[service]
    names.push(schema, ...((await extraSchemas?.roles(tx)) ?? []))
  }
  return names
}

const databaseAfter = ({ data, main, target }: Plan): { url: string } =>
  process.env.DATA_DATABASE_URL ? data : { url: toDatabaseUrl(main.url, dataDatabaseName(target)) }

async function renameDataDatabase(
  adminUrl: string,
  plan: Plan,
  print: (line: string) => void,
): Promise<void> {
  const { database: name } = plan.data.identity
  const targetName = dataDatabaseName(plan.target)
  if (process.env.DATA_DATABASE_URL || name === targetName) return
  await withAdmin(adminUrl, (sql) =>
    sql.unsafe(`alter database ${quoteIdentifier(name)} rename to ${quoteIdentifier(targetName)}`),
  )
  print(`${name}: is called ${targetName}`)
}

function rolesOf(adminUrl: string, target: Installation): AdoptedRole[] {
  return backendNames.map((service) => ({
    service,
    role: formatRole(target, backends[service].schema),
    database: new URL(databaseIn(target, service, adminUrl)).pathname.slice(1),
  }))
}

async function markedStreams({ nats }: AdoptTask, { id }: Installation): Promise<string[]> {
  if (!nats) return []
  return withNats(nats.url, async (link) => markStreams(await link.ready(), nats.names, id, nats.replace))
}
