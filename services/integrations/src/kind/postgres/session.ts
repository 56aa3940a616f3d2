import { once } from 'node:events'
import type { Socket } from 'node:net'
import { OutboundError, type OutboundStreams } from '@opsplane/http'
import { createTypeNames, type PooledConnection, type TypeNames } from '@opsplane/postgres'
import postgres, { type Sql } from 'postgres'

export type TlsMode = 'verify-full' | 'require' | 'disable'

/** A database with login data. */
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
  /** Cancels the opening; an opened session is not affected. */
  signal: AbortSignal
}

/** A session on a tenant's server: a single connection that is never reopened. */
export interface Session extends PooledConnection {
  sql: Sql
  namesOf: TypeNames
  /** Requests cancellation on the server without waiting for it, and closes the connection. */
  abandon(): void
}

/** Throws `OutboundError`, and errors of Postgres for the login. */
export async function openSession(
  outbound: OutboundStreams,
  target: SessionTarget,
  { timeoutMs, signal }: Opening,
): Promise<Session> {
  const life = new AbortController()
  const abort = () => life.abort()
  signal.addEventListener('abort', abort)
  const timer = setTimeout(abort, timeoutMs)
  try {
    const stream = await openStream(outbound, target, { timeoutMs, signal: life.signal })
    const sql = clientOver(stream, target)
    // The client logs in with the first statement.
    const first = sql.unsafe('select 1')
    await first
    // The types lack the data that a cancel request needs.
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
    signal.removeEventListener('abort', abort)
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
      // Without a timeout, `end` would wait for the response in flight, even after the stream is closed.
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

/** Sends a cancel request to the session's address on a separate connection, as the Postgres protocol requires. */
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
  // Bytes after the first one would have been injected, to be mistaken for data received over TLS.
  if (answer.toString('latin1') !== 'S') {
    plain.destroy()
    throw new OutboundError('tls', 'The server offers no TLS.')
  }
  return outbound.startTls(plain, host, { verify: tls === 'verify-full', ...(ca !== undefined && { ca }) })
}

async function firstBytes(stream: Socket): Promise<Buffer> {
  const abortController = new AbortController()
  stream.once('close', () => abortController.abort())
  try {
    const [bytes] = (await once(stream, 'data', { signal: abortController.signal })) as [Buffer]
    return bytes
  } catch (cause) {
    throw stream.errored ?? new OutboundError('reset', 'The server closed the connection.', { cause })
  }
}

function clientOver(stream: Socket, { database, user, password }: SessionTarget): Sql {
  let isStreamUsed = false
  const options = {
    // The host is not used, because the stream is already connected.
    ...{ host: 'database', database, user, password, max: 1 },
    // Returns the stream only once: a transaction must not continue on a connection that replaces a lost one.
    socket: () => {
      if (isStreamUsed) throw new OutboundError('reset', 'The connection to the database was lost.')
      isStreamUsed = true
      return stream
    },
    // The stream is already encrypted and has a deadline.
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
  // The library's types lack `socket`.
  return postgres(options as postgres.Options<Record<string, postgres.PostgresType>>)
}

/** Parameters of these types are already in Postgres text format, so the client must not convert them again. */
const asText = Object.fromEntries(
  [16, 17, 114, 1082, 1114, 1184, 3802].map((type) => [
    `type${type}`,
    { to: type, from: [], serialize: (value: unknown) => value, parse: (value: unknown) => value },
  ]),
)
