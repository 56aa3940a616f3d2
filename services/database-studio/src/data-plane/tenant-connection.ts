import { createHmac } from 'node:crypto'
import { type AnswerMeter, createMeteredSocket, exactJson, parseServerTarget } from '@opsplane/postgres'
import postgres from 'postgres'
import { derivePassword } from './logins.js'
import { type JournalActor, roleOfSpace, type Space, type SpaceRole } from './space.js'

/**
 * Use of a connection. `own` connections run only statements of this service, which are prepared; `free` connections
 * run SQL of tenants and are reset afterwards.
 */
export type Purpose = 'own' | 'free'

export interface ConnectionKey {
  space: Space
  role: SpaceRole
  purpose: Purpose
}

export const toConnectionName = ({ space, role, purpose }: ConnectionKey): string =>
  `${space.id}/${role}/${purpose}`

/** Arguments of `studio.acting`, which sets the actor of one transaction. Each proof is valid once, in this session. */
export type Proof = [sequence: string, payload: string, mac: string]

/** One session of one role of one space. */
export interface TenantConnection {
  sql: postgres.Sql
  /** Process id of its Postgres backend. */
  pid: number
  /** Limits the bytes that one user of the connection may receive. */
  meter: AnswerMeter
  prove(journalActor: JournalActor): Proof
  /** Restores the initial state. Returns false if the connection must be closed instead. */
  reset(): Promise<boolean>
  isOpen(): boolean
  /**
   * Marks the connection to be closed on release: a cancel request for one of its statements
   * may arrive late and stop the next.
   */
  retire(): void
  close(): Promise<void>
}

export interface ConnectOptions extends ConnectionKey {
  /** URL of the data database; the user in it is replaced. */
  url: string
  key: Buffer
}

/** A tenant has changed the password or the settings of its login. */
export class AlteredLoginError extends Error {
  override name = 'AlteredLoginError'
}

const closeTimeoutS = 1

/** Logs in and reads the values that proofs are bound to. Throws AlteredLoginError or the error of Postgres. */
export async function openConnection(options: ConnectOptions): Promise<TenantConnection> {
  const { key } = options
  const state = { open: true }
  const { socket, meter } = createMeteredSocket()
  const onclose = () => {
    state.open = false
  }
  const sql = clientOf(options, { socket, onclose })
  try {
    const [entered] = await sql<{ pid: number; nonce: string; sequence: string; altered: boolean }[]>`
      select pid, nonce, sequence, altered from studio.enter()`.catch(explainLogin)
    if (!entered || entered.altered) throw new AlteredLoginError('the login has settings of its own')
    const { pid, nonce } = entered
    let sequence = Number(entered.sequence)
    return {
      sql,
      pid,
      meter,
      prove: (journalActor) => proofOf(key, nonce, ++sequence, journalActor),
      reset: () => reset(sql, options),
      isOpen: () => state.open,
      retire: () => {
        state.open = false
      },
      close: () => sql.end({ timeout: closeTimeoutS }),
    }
  } catch (error) {
    await sql.end({ timeout: closeTimeoutS })
    throw error
  }
}

function clientOf(
  { url, space, role, purpose, key }: ConnectOptions,
  events: { socket: ReturnType<typeof createMeteredSocket>['socket']; onclose: () => void },
): postgres.Sql {
  const { url: target, ssl } = parseServerTarget(url)
  return postgres(target, {
    ...events,
    ...(ssl && { ssl }),
    max: 1,
    user: roleOfSpace(space, role),
    password: derivePassword(key, space.schema, role),
    // Type lookup queries the catalogue, which tenants may not read.
    fetch_types: false,
    types: { json: exactJson },
    prepare: purpose === 'own',
    idle_timeout: 0,
    max_lifetime: null,
    connect_timeout: 5,
    onnotice: () => {},
    connection: {
      application_name: `opsplane-tenant-${purpose}`,
      search_path: `${space.schema}, extensions`,
      statement_timeout: 30_000,
      idle_in_transaction_session_timeout: 30_000,
      options: '-c default_transaction_read_only=off',
      jit: 'off',
      TimeZone: 'UTC',
      IntervalStyle: 'iso_8601',
      max_parallel_workers_per_gather: 0,
      // Objects it creates belong to the owner role; the migrator is a member of no other role.
      ...(role === 'migrator' && { role: roleOfSpace(space, 'owner') }),
    },
  })
}

function explainLogin(error: unknown): never {
  const code = error instanceof postgres.PostgresError ? error.code : undefined
  if (code === '28P01' || code === '28000')
    throw new AlteredLoginError('the login was refused', { cause: error })
  throw error
}

function proofOf(key: Buffer, nonce: string, sequence: number, journalActor: JournalActor): Proof {
  const { actor, requestId, causationId = null, source = null, keeps, definitions, records } = journalActor
  const payload = JSON.stringify({ actor, requestId, causationId, source, keeps, definitions, records })
  const mac = createHmac('sha256', key).update(`${nonce}\n${sequence}\n${payload}`).digest('hex')
  return [String(sequence), payload, mac]
}

async function reset(sql: postgres.Sql, { role, purpose }: ConnectionKey): Promise<boolean> {
  if (purpose === 'own') return true
  // DISCARD would reset a migrator to its login role instead of the owner role it switched to.
  if (role === 'migrator') return false
  try {
    await sql.unsafe('discard all')
    return true
  } catch {
    return false
  }
}
