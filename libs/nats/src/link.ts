import { connect, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node'
import type { Logger } from '@opsplane/runtime'
import { delay, retryDelayMs } from '@opsplane/runtime'
import { ForeignStreamError, NatsLinkClosedError, UnsupportedServerError } from './errors.js'
import type { EventSignatures } from './event-signatures.js'
import { setInboxPrefix, userInbox } from './inbox.js'
import { isSupportedServer, minServerVersion } from './server-version.js'

/** A connection that is opened in the background and reopened indefinitely. */
export interface NatsLink {
  /** The identity of the service that opened the connection, if a service did. */
  readonly identity: ServiceIdentity | undefined
  /** The connection, once there is one. Rejects with NatsLinkClosedError after close(), or once the signal aborts. */
  ready(signal?: AbortSignal): Promise<NatsConnection>
  /** Whether the connection is currently up. */
  connected(): boolean
  /** The error of the last failed connection attempt; `undefined` once one succeeded. */
  failure(): unknown
  /** Calls back whenever `connected()` changes; returns a function that unsubscribes. */
  onChange(listener: () => void): () => void
  /** Flushes and closes. */
  close(): Promise<void>
}

/** The identity of a service on NATS, in addition to its user. */
export interface ServiceIdentity {
  /** Its durable consumers; any are allowed if the registry does not know the service. */
  durables: readonly string[] | undefined
  signatures: EventSignatures
}

interface ConnectNatsOptions {
  /** `nats://[user:password@|token@]host:port`, or `tls://…`; several are separated by commas. */
  url: string
  name: string
  log: Logger
  /** Rejects if the server belongs to another installation; the connection is then closed and retried. */
  admit?: ((connection: NatsConnection) => Promise<void>) | undefined
  /** Signs and verifies events; without it, as for customers, events are neither signed nor verified. */
  identity?: ServiceIdentity
}

/** Returns immediately and keeps connecting in the background until closed. Logs once per change of state. */
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

  // Otherwise the rejection would be unhandled if the link is closed before its first connection.
  current.catch(() => {})

  return {
    identity: options.identity,
    ready: (signal) => {
      if (closing.signal.aborted || signal?.aborted) return Promise.reject(new NatsLinkClosedError())
      return signal ? raceAbort(current, signal) : current
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
      // Draining waits for the server, so it is only done while connected.
      if (up) await connection.drain().catch(() => {})
      // If the server fails meanwhile, draining fails too and leaves the connection reconnecting.
      await connection.close()
    },
  }
}

/**
 * Servers and credentials of a URL, as `connect` of the NATS client expects them. Replies go to the user's own
 * inbox.
 */
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
    // Detects a silent network failure within half a minute.
    pingInterval: 15_000,
    maxPingOut: 1,
    noAsyncTraces: true,
    ignoreAuthErrorAbort: true,
  }
}

/** Closing must not wait for a server that may never be available. */
function raceAbort<T>(pending: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abandon = () => reject(new NatsLinkClosedError())
    signal.addEventListener('abort', abandon, { once: true })
    pending.then(resolve, reject).finally(() => signal.removeEventListener('abort', abandon))
  })
}
