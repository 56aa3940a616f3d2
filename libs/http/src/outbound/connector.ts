import { type LookupAddress, NOTFOUND, TIMEOUT } from 'node:dns'
import { isIP, type LookupFunction, Socket } from 'node:net'
import { type SecureContext, TLSSocket } from 'node:tls'
import { LRUCache } from 'lru-cache'
import { undici } from '../calls/undici.js'
import type { AddressPolicy } from './addresses.js'
import { type OutboundError, outboundError, toOutboundError } from './outbound-error.js'
import type { PendingRequests } from './pending-requests.js'
import { rejectOnAbort } from './reject-on-abort.js'
import { createResolver } from './resolver.js'
import { responseMeter } from './response-limit.js'
import type { Resolve } from './system-lookup.js'
import { followDial, type MeasuredConnector } from './timings.js'
import { hostWithoutBrackets } from './url-rules.js'

interface GuardedResolver {
  /** The addresses of a name, all of which are allowed. Throws OutboundError. */
  resolve(hostname: string): Promise<LookupAddress[]>
  /** Cancels pending lookups: their sockets and timers would keep the process alive. */
  close(): void
}

/** Timeout per name, shared by all callers. */
const resolveLimitMs = 5_000

const connectTimeoutMs = 10_000

/** Maximum cached TLS sessions, one per host. */
const maxSessions = 500

/**
 * Resolves a name and rejects it if any of its addresses is not allowed, or if the lookup times out.
 * Concurrent callers for the same name share one lookup.
 */
export function createGuardedResolver(
  policy: AddressPolicy,
  resolve: Resolve = createResolver(),
  limitMs = resolveLimitMs,
): GuardedResolver {
  const underway = new Map<string, { addresses: Promise<LookupAddress[]>; giveUp: () => void }>()

  const check = (addresses: LookupAddress[]) => {
    if (addresses.length === 0) throw outboundError('dns')
    // Reported as if the name did not exist: users who may name hosts must not discover internal ones.
    if (!addresses.every(({ address }) => policy.allows(address))) throw outboundError('dns', noSuchName())
    return addresses
  }
  const start = (hostname: string) => {
    const limit = new AbortController()
    const expire = () =>
      limit.abort(Object.assign(new Error('The name was not resolved in time.'), { code: TIMEOUT }))
    const timer = setTimeout(expire, limitMs)
    // Not every resolver obeys its signal.
    const addresses = Promise.race([rejectOnAbort(limit.signal), resolve(hostname, limit.signal)])
      .catch((error: unknown) => {
        throw outboundError('dns', error)
      })
      .then(check)
      .finally(() => {
        clearTimeout(timer)
        underway.delete(hostname)
      })
    underway.set(hostname, { addresses, giveUp: expire })
    return addresses
  }

  return {
    resolve: (hostname) => underway.get(hostname)?.addresses ?? start(hostname),
    close() {
      for (const { giveUp } of underway.values()) giveUp()
    },
  }
}

const noSuchName = () => Object.assign(new Error('The name is not for the outside.'), { code: NOTFOUND })

/** Lookup function for sockets: the addresses it returns are the ones they connect to. */
export function guardedLookup({ resolve }: GuardedResolver): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses
        if (options.all) callback(null, addresses)
        else callback(null, first?.address ?? '', first?.family)
      },
      (error: Error) => callback(error, []),
    )
  }
}

/** undici's connector, which connects to checked addresses only. */
export function createGuardedConnector(
  policy: AddressPolicy,
  lookup: LookupFunction,
  waiting: PendingRequests,
  secureContext: SecureContext | undefined,
): MeasuredConnector {
  const { buildConnector, errors } = undici()
  /**
   * undici does not treat this as the failure of a request: a request that arrives
   * meanwhile gets a separate connection.
   */
  class NoWaitingRequestError extends errors.InformationalError {}
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    lookup,
    autoSelectFamily: true,
    maxCachedSessions: maxSessions,
    ...(secureContext && { secureContext }),
  })
  /**
   * undici references sessions weakly: without this cache, a garbage collection would
   * force full handshakes for a whole burst.
   */
  const sessions = new LRUCache<string, Buffer>({ max: maxSessions })

  return (options, callback, dialled) => {
    const host = hostWithoutBrackets(options.hostname)
    // Node calls `lookup` only for names, so an IP literal must be checked here.
    if (isIP(host) !== 0 && !policy.allows(host)) {
      callback(outboundError('blocked_address'), null)
      return
    }
    const origin = `${options.protocol}//${options.host}`
    // undici reconnects for an aborted request before it drops it.
    if (!waiting.isWaitedFor(origin)) {
      callback(outboundError('reset'), null)
      return
    }
    // The returned value, the pending connection, is not in the type.
    const socket: unknown = connect(options, (error, connected) => {
      settled(error === null)
      if (error) callback(error instanceof NoWaitingRequestError ? error : connectFailure(error), null)
      else {
        dial.openedAt = performance.now()
        callback(null, connected)
        // undici reads the socket; this listener only observes the data. The limit on bodies does not
        // count other bytes, such as chunk extensions.
        const meter = responseMeter(connected)
        connected.on('data', (chunk: Buffer) => meter(chunk.length))
      }
    })
    const dial = followDial(socket, options.protocol === 'https:')
    dialled(dial)
    if (socket instanceof TLSSocket)
      socket.on('session', (session: Buffer) => sessions.set(options.hostname, session))
    const settled = waiting.whileWaitedFor(origin, () => {
      if (socket instanceof Socket) socket.destroy(new NoWaitingRequestError())
    })
  }
}

/** Before a connection exists, a reset can only be a failed TCP or TLS handshake. */
export function connectFailure(error: unknown): OutboundError {
  const failure = toOutboundError(error)
  return failure.kind === 'reset' || failure.kind === 'protocol' ? outboundError('connect', error) : failure
}
