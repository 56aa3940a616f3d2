import { connect, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node'
import type { Logger } from '@opsplane/runtime'
import { delay, retryDelayMs } from '@opsplane/runtime'
import { ForeignStreamError, NatsLinkClosedError, UnsupportedServerError } from './errors.js'
import type { EventSignatures } from './event-signatures.js'
import { setInboxPrefix, userInbox } from './inbox.js'
import { isSupportedServer, minServerVersion } from './server-version.js'

/** A connection that is always being kept up: opened in the background, and reopened for as long as it takes. */
export interface NatsLink {
  /** Whose connection it is, where a service has opened it. */
  readonly identity: ServiceIdentity | undefined
  /** The connection, once there is one. Rejects with NatsLinkClosedError after close(), or once the signal aborts. */
  ready(signal?: AbortSignal): Promise<NatsConnection>
  /** Whether the server answers at this moment. */
  connected(): boolean
  /** Why the last attempt to connect failed; undefined once one succeeded. */
  failure(): unknown
  /** Calls back whenever `connected()` changes; returns how to stop that. */
  onChange(listener: () => void): () => void
  /** Sends what is buffered and closes. */
  close(): Promise<void>
}

/** The identity of a service on NATS, in addition to its user. */
export interface ServiceIdentity {
  /** The durable consumers it has; any where the registry does not know the service. */
  durables: readonly string[] | undefined
  signatures: EventSignatures
}

interface ConnectNatsOptions {
  /** `nats://[user:password@|token@]host:port`, or `tls://…`; several separated by commas. */
  url: string
  name: string
  log: Logger
  /** Rejects where this server is not the caller's: the connection is closed then, and tried again. */
  admit?: ((connection: NatsConnection) => Promise<void>) | undefined
  /** Events are signed and checked with it; without it, as for customers, they are neither. */
  identity?: ServiceIdentity
}

/** Returns at once and connects in the background, for ever. Logs once per change of state. */
export function connectNats(options: ConnectNatsOptions): NatsLink {
  const { log } = options
  const closing = new AbortController()
  const listeners = new Set<() => void>()
  let up = false
  let failure: unknown
  let current = open()

  async function open(): Promise<NatsConnection> {
    for (let attempt = 1; !closing.signal.aborted; attempt++) {
      try {
        const connection = await connect(connectionOptions(options))
        if (closing.signal.aborted) {
          await connection.close()
          break
        }
        setInboxPrefix(connection, parseServerUrl(options.url).inboxPrefix)
        await admitted(connection)
        watch(connection)
        failure = undefined
        return connection
      } catch (error) {
        failure = error
        if (attempt === 1) {
          if (error instanceof ForeignStreamError || error instanceof UnsupportedServerError)
            log.error(error.message)
          else log.warn({ err: error }, 'NATS cannot be reached, still trying')
        }
        await delay(
          retryDelayMs({ attempt, strategy: 'exponential', baseMs: 100, maxMs: 2_000 }),
          closing.signal,
        )
      }
    }
    throw new NatsLinkClosedError()
  }

  async function admitted(connection: NatsConnection): Promise<void> {
    try {
      const { version = '' } = connection.info ?? {}
      if (!isSupportedServer(version)) throw new UnsupportedServerError(version, minServerVersion)
      await options.admit?.(connection)
      if (closing.signal.aborted) throw new NatsLinkClosedError()
    } catch (error) {
      await connection.close()
      throw error
    }
  }

  function setUp(now: boolean) {
    if (now === up) return
    up = now
    if (now) log.info('NATS connected')
    else if (!closing.signal.aborted) log.warn('NATS disconnected, reconnecting')
    for (const listener of [...listeners]) listener()
  }

  function watch(connection: NatsConnection) {
    setUp(true)
    void (async () => {
      for await (const status of connection.status()) {
        if (status.type === 'disconnect') setUp(false)
        if (status.type === 'reconnect') setUp(true)
      }
    })()
    // The client gives up on some errors, such as repeated authorization failures; the link does not.
    void connection.closed().then(() => {
      setUp(false)
      if (closing.signal.aborted) return
      current = open()
      current.catch(() => {})
    })
  }

  // The rejection may be unhandled where the link is closed before its first connection.
  current.catch(() => {})

  return {
    identity: options.identity,
    ready: (signal) => {
      if (closing.signal.aborted || signal?.aborted) return Promise.reject(new NatsLinkClosedError())
      return signal ? unlessAborted(current, signal) : current
    },
    connected: () => up,
    failure: () => failure,
    onChange: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async close() {
      if (closing.signal.aborted) return
      closing.abort()
      const connection = await current.catch(() => undefined)
      if (!connection || connection.isClosed()) return
      // Draining waits for the server, so it is only for a connection that has one.
      if (up) await connection.drain().catch(() => {})
      // Draining fails where the server goes meanwhile, and leaves the connection dialling.
      await connection.close()
    },
  }
}

/** Where a URL leads, and as whom, as `connect` of the NATS client takes it. Answers go to the user's own inbox. */
export function parseServerUrl(url: string) {
  const servers = url.split(',').map((text) => new URL(text.trim()))
  const [first] = servers
  const user = decodeURIComponent(first?.username ?? '')
  const pass = decodeURIComponent(first?.password ?? '')
  return {
    servers: servers.map((server) => server.host),
    ...(servers.some((server) => server.protocol === 'tls:') ? { tls: {} } : {}),
    ...(pass !== '' ? { user, pass } : user !== '' ? { token: user } : {}),
    inboxPrefix: pass === '' ? '_INBOX' : userInbox(user),
  }
}

function connectionOptions({ url, name }: ConnectNatsOptions): NodeConnectionOptions {
  return {
    ...parseServerUrl(url),
    name,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    timeout: 5_000,
    // A silent network failure is noticed within half a minute.
    pingInterval: 15_000,
    maxPingOut: 1,
    noAsyncTraces: true,
    ignoreAuthErrorAbort: true,
  }
}

/** Closing must not wait for a server that may never be available. */
function unlessAborted<T>(pending: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abandon = () => reject(new NatsLinkClosedError())
    signal.addEventListener('abort', abandon, { once: true })
    pending.then(resolve, reject).finally(() => signal.removeEventListener('abort', abandon))
  })
}
