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
  /** The addresses of a name, all of them allowed. Throws OutboundError. */
  resolve(hostname: string): Promise<LookupAddress[]>
  /** Gives up what is being resolved: its sockets and timers would keep the process from ending. */
  close(): void
}

/** Limit per name, over all callers. */
const resolveLimitMs = 5_000

const connectTimeoutMs = 10_000

/** TLS sessions that are kept, one for each host. */
const maxSessions = 500

/**
 * Resolves a name and refuses it when any of its addresses is not allowed, or when they are not known in time. Callers
 * that ask for a name while it is being resolved share the answer.
 */
export function createGuardedResolver(
  policy: AddressPolicy,
  resolve: Resolve = createResolver(),
  limitMs = resolveLimitMs,
): GuardedResolver {
  const underway = new Map<string, { addresses: Promise<LookupAddress[]>; giveUp: () => void }>()

  const check = (addresses: LookupAddress[]) => {
    if (addresses.length === 0) throw outboundError('dns')
    // As if the name did not exist: users who may name hosts must not discover internal ones.
    if (!addresses.every(({ address }) => policy.allows(address))) throw outboundError('dns', noSuchName())
    return addresses
  }
  const start = (hostname: string) => {
    const limit = new AbortController()
    const giveUp = () =>
      limit.abort(Object.assign(new Error('The name was not resolved in time.'), { code: TIMEOUT }))
    const timer = setTimeout(giveUp, limitMs)
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
    underway.set(hostname, { addresses, giveUp })
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

/** What sockets ask for the addresses of a name: those it gives are the ones they dial. */
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
  /** To undici, no failure of a request: one that comes meanwhile gets a connection of its own. */
  class NobodyWaits extends errors.InformationalError {}
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    lookup,
    autoSelectFamily: true,
    maxCachedSessions: maxSessions,
    ...(secureContext && { secureContext }),
  })
  /** undici holds sessions weakly: after a garbage collection every connection of a burst would shake hands in full. */
  const sessions = new LRUCache<string, Buffer>({ max: maxSessions })

  return (options, callback, dialled) => {
    const host = hostWithoutBrackets(options.hostname)
    // Node asks `lookup` for names only, so a literal has to be checked here.
    if (isIP(host) !== 0 && !policy.allows(host)) {
      callback(outboundError('blocked_address'), null)
      return
    }
    const origin = `${options.protocol}//${options.host}`
    // undici reconnects for a request that was aborted before it drops it.
    if (!waiting.isWaitedFor(origin)) {
      callback(outboundError('reset'), null)
      return
    }
    // What it returns, the connection to be, is not in its type.
    const socket: unknown = connect(options, (error, connected) => {
      settled(error === null)
      if (error) callback(error instanceof NobodyWaits ? error : connectFailure(error), null)
      else {
        dial.openedAt = performance.now()
        callback(null, connected)
        // undici reads the socket; this only sees what it has read. The cap on bodies does not count what is no body,
        // such as the extensions of chunks.
        const meter = responseMeter(connected)
        connected.on('data', (chunk: Buffer) => meter(chunk.length))
      }
    })
    const dial = followDial(socket, options.protocol === 'https:')
    dialled(dial)
    if (socket instanceof TLSSocket)
      socket.on('session', (session: Buffer) => sessions.set(options.hostname, session))
    const settled = waiting.whileWaitedFor(origin, () => {
      if (socket instanceof Socket) socket.destroy(new NobodyWaits())
    })
  }
}

/** Before there is a connection, a reset can only be the TLS or TCP handshake that failed. */
export function connectFailure(error: unknown): OutboundError {
  const failure = toOutboundError(error)
  return failure.kind === 'reset' || failure.kind === 'protocol' ? outboundError('connect', error) : failure
}
