import { createHmac } from 'node:crypto'
import { type AnswerMeter, createMeteredSocket, exactJson, parseServerTarget } from '@opsplane/postgres'
import postgres from 'postgres'
import { derivePassword } from './logins.js'
import { type JournalActor, roleOfSpace, type Space, type SpaceRole } from './space.js'

/**
 * What a connection is for. `own` ones run statements of ours alone, which are prepared; `free` ones run what tenants
 * write, and are reset afterwards.
 */
export type Purpose = 'own' | 'free'

export interface ConnectionKey {
  space: Space
  role: SpaceRole
  purpose: Purpose
}

export const toConnectionName = ({ space, role, purpose }: ConnectionKey): string =>
  `${space.id}/${role}/${purpose}`

/** Arguments of `studio.acting`, which say for one transaction who acts; each is good once, in this session. */
export type Proof = [sequence: string, payload: string, mac: string]

/** One session of one role of one space. */
export interface TenantConnection {
  sql: postgres.Sql
  /** The number of its backend. */
  pid: number
  /** Bounds what is answered to one user of the connection. */
  meter: AnswerMeter
  prove(acting: JournalActor): Proof
  /** Makes it as new; false where it must be closed instead. */
  reset(): Promise<boolean>
  isOpen(): boolean
  /** Has it closed once it is given back: what stops a statement of it may reach the next one. */
  retire(): void
  close(): Promise<void>
}

export interface ConnectOptions extends ConnectionKey {
  /** Of the data database; the user in it is replaced. */
  url: string
  key: Buffer
}

/** A tenant has given its login another password, or other settings. */
export class AlteredLoginError extends Error {
  override name = 'AlteredLoginError'
}

const closeTimeoutS = 1

/** Logs in and asks for what proofs are bound to. Throws AlteredLoginError, and what Postgres says. */
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
      prove: (acting) => proofOf(key, nonce, ++sequence, acting),
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
    // Types are asked for in the catalogue, which tenants may not read.
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
      // What it makes is the owner's; it is a member of nothing else.
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

function proofOf(key: Buffer, nonce: string, sequence: number, acting: JournalActor): Proof {
  const { actor, requestId, causationId = null, source = null, keeps, definitions, records } = acting
  const payload = JSON.stringify({ actor, requestId, causationId, source, keeps, definitions, records })
  const mac = createHmac('sha256', key).update(`${nonce}\n${sequence}\n${payload}`).digest('hex')
  return [String(sequence), payload, mac]
}

async function reset(sql: postgres.Sql, { role, purpose }: ConnectionKey): Promise<boolean> {
  if (purpose === 'own') return true
  // What DISCARD gives a migrator back is the role it logged in as, not the owner it became then.
  if (role === 'migrator') return false
  try {
    await sql.unsafe('discard all')
    return true
  } catch {
    return false
  }
}
