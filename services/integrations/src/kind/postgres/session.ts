import { once } from 'node:events'
import type { Socket } from 'node:net'
import { OutboundError, type OutboundStreams } from '@opsplane/http'
import { createTypeNames, type PooledConnection, type TypeNames } from '@opsplane/postgres'
import postgres, { type Sql } from 'postgres'

export type TlsMode = 'verify-full' | 'require' | 'disable'

/** A database, and who logs in. */
export interface SessionTarget {
  host: string
  port: number
  database: string
  user: string
  password: string
  tls: TlsMode
  /** PEM certificates trusted instead of the public authorities. */
  ca?: string | undefined
}

export interface Opening {
  timeoutMs: number
  /** Gives up the opening; what is open by then stays. */
  signal: AbortSignal
}

/** A login at a tenant's server: one connection, which nothing opens again. */
export interface Session extends PooledConnection {
  sql: Sql
  namesOf: TypeNames
  /** Asks the server to stop what it does, without waiting for it, and hangs up. */
  abandon(): void
}

/** Throws OutboundError, and what Postgres says to the login. */
export async function openSession(
  outbound: OutboundStreams,
  target: SessionTarget,
  { timeoutMs, signal }: Opening,
): Promise<Session> {
  const life = new AbortController()
  const giveUp = () => life.abort()
  signal.addEventListener('abort', giveUp)
  const timer = setTimeout(giveUp, timeoutMs)
  try {
    const stream = await openStream(outbound, target, { timeoutMs, signal: life.signal })
    const sql = clientOver(stream, target)
    // The login comes with the first statement.
    const first = sql.unsafe('select 1')
    await first
    // What a request to cancel names is not in the types.
    return sessionOver(outbound, {
      sql,
      stream,
      target,
      backend: (first as unknown as { state: Backend }).state,
    })
  } catch (error) {
    life.abort()
    throw error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', giveUp)
  }
}

interface Backend {
  pid: number
  secret: number
}

interface Open {
  sql: Sql
  stream: Socket
  target: SessionTarget
  backend: Backend
}

function sessionOver(outbound: OutboundStreams, { sql, stream, target, backend }: Open): Session {
  const host = stream.remoteAddress ?? target.host
  return {
    sql,
    namesOf: createTypeNames(sql),
    isOpen: () => !stream.destroyed,
    reset: () =>
      sql.unsafe('discard all').then(
        () => true,
        () => false,
      ),
    async close() {
      // Without a timeout it would wait for the answer to what is in flight, also once the stream is gone.
      await sql.end({ timeout: closeTimeoutS })
      stream.destroy()
    },
    abandon() {
      stream.destroy()
      void cancel(outbound, { host, port: target.port, backend }).catch(() => {})
    },
  }
}

const closeTimeoutS = 1
const cancelTimeoutMs = 5_000

/** To the address the session has, on a connection of its own that says nothing else: so it is done in Postgres. */
async function cancel(
  outbound: OutboundStreams,
  { host, port, backend }: { host: string; port: number; backend: Backend },
): Promise<void> {
  const stream = await outbound.connect({ host, port, timeoutMs: cancelTimeoutMs })
  const request = Buffer.alloc(16)
  request.writeUInt32BE(16)
  request.writeUInt32BE(cancelCode, 4)
  request.writeUInt32BE(backend.pid, 8)
  request.writeUInt32BE(backend.secret, 12)
  stream.end(request)
}

const cancelCode = 80_877_102
const tlsCode = 80_877_103

async function openStream(
  outbound: OutboundStreams,
  { host, port, tls, ca }: SessionTarget,
  opening: Opening,
): Promise<Socket> {
  const plain = await outbound.connect({ host, port, ...opening })
  if (tls === 'disable') return plain
  const request = Buffer.alloc(8)
  request.writeUInt32BE(8)
  request.writeUInt32BE(tlsCode, 4)
  plain.write(request)
  const answer = await firstBytes(plain)
  // More than the one byte would be injected on the way, to be mistaken for data over TLS.
  if (answer.toString('latin1') !== 'S') {
    plain.destroy()
    throw new OutboundError('tls', 'The server offers no TLS.')
  }
  return outbound.startTls(plain, host, { verify: tls === 'verify-full', ...(ca !== undefined && { ca }) })
}

async function firstBytes(stream: Socket): Promise<Buffer> {
  const ended = new AbortController()
  stream.once('close', () => ended.abort())
  try {
    const [bytes] = (await once(stream, 'data', { signal: ended.signal })) as [Buffer]
    return bytes
  } catch (cause) {
    throw stream.errored ?? new OutboundError('reset', 'The server closed the connection.', { cause })
  }
}

function clientOver(stream: Socket, { database, user, password }: SessionTarget): Sql {
  let taken = false
  const options = {
    // Of its words of a host none is used: the stream is there.
    ...{ host: 'database', database, user, password, max: 1 },
    // Once only: what runs in a transaction never goes on outside it, on a connection that replaces a lost one.
    socket: () => {
      if (taken) throw new OutboundError('reset', 'The connection to the database was lost.')
      taken = true
      return stream
    },
    // The stream is secure already, and has a deadline.
    ssl: false,
    connect_timeout: 0,
    fetch_types: false,
    prepare: false,
    idle_timeout: 0,
    max_lifetime: null,
    onnotice: () => {},
    connection: { application_name: 'opsplane' },
    types: asText,
  }
  // Its types know no socket.
  return postgres(options as postgres.Options<Record<string, postgres.PostgresType>>)
}

/** Parameters of these types arrive as the text Postgres reads, which the client would translate once more. */
const asText = Object.fromEntries(
  [16, 17, 114, 1082, 1114, 1184, 3802].map((type) => [
    `type${type}`,
    { to: type, from: [], serialize: (value: unknown) => value, parse: (value: unknown) => value },
  ]),
)
