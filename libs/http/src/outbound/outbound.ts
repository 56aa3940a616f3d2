import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls'
import { LRUCache } from 'lru-cache'
import type { Agent, Dispatcher } from 'undici'
import { undici } from '../calls/undici.js'
import { createAddressPolicy } from './addresses.js'
import { createGuardedConnector, createGuardedResolver, guardedLookup } from './connector.js'
import { OutboundError, outboundError, toOutboundError } from './outbound-error.js'
import { createPendingRequests, type PendingRequests } from './pending-requests.js'
import { rejectOnAbort } from './reject-on-abort.js'
import { readBody, readPartialBody } from './response-body.js'
import { createStreams, type OutboundStreams } from './streams.js'
import type { Resolve } from './system-lookup.js'
import { measureConnector, type OutboundTimings, RequestPhases } from './timings.js'
import { checkUrl } from './url-rules.js'

export interface OutboundOptions {
  /** Special address blocks that may be called anyway, such as `127.0.0.0/8` in local development. */
  allowedCidrs: readonly string[]
  /** Public address blocks that must not be called, such as the operator's own. */
  deniedCidrs?: readonly string[]
  /** Whether plain http is allowed: to any host, to none, or only to loopback hosts. */
  allowHttp: boolean | 'loopback'
  /** PEM certificates trusted in addition to the public CAs. */
  ca?: string
  /** Maximum connections to one origin; further requests wait for a free one. */
  connectionsPerOrigin?: number
  /** Replaces the hosts file and DNS. */
  resolve?: Resolve
  /** Timeout of one name lookup in milliseconds; default 5 s. */
  resolveTimeoutMs?: number
  /** Ports below 1024 that streams may be opened to; default none. */
  streamPorts?: readonly number[]
}

export interface OutboundRequest {
  url: string
  method: Dispatcher.HttpMethod
  headers: Record<string, string>
  body?: string | Buffer
  /** One deadline, from DNS to the last byte of the body. */
  timeoutMs: number
  /**
   * Maximum bytes of the decompressed body; the rest is not read. In addition, a
   * response is cut after 8 MiB on the wire.
   */
  maxResponseBytes: number
  /**
   * Set if the receiver detects repetitions: the request is then repeated within its deadline if a kept connection
   * turns out to be closed before a response arrives.
   */
  repeatable?: boolean
  /**
   * Set if only the status matters: the body is read in the remaining time, and an incomplete one is `truncated`.
   * Otherwise an incomplete body is a failure.
   */
  statusDecides?: boolean
  signal?: AbortSignal
  /** Called when the request has ended, with or without a response; not called for a rejected URL. */
  measured?(timings: OutboundTimings): void
}

export interface OutboundResponse {
  status: number
  /** Lower-case names; repeated headers are joined by a comma. */
  headers: Record<string, string>
  body: Buffer
  truncated: boolean
  /** The body does not decompress and is cut at the first invalid byte. */
  isBroken?: true
  durationMs: number
}

/** All calls the platform makes on a tenant's behalf use this interface. */
export interface Outbound extends OutboundStreams {
  /**
   * Throws ApiError `validation_failed` at `path` for a URL that would never be called. Names are not resolved: that
   * would reveal whether an internal name exists, and each call checks the address anyway.
   */
  checkUrl(url: string, path?: string): void
  /** Sends one request; no redirects, no retries. Throws OutboundError. */
  request(request: OutboundRequest): Promise<OutboundResponse>
  close(): Promise<void>
}

/** Maximum URLs whose check is cached. */
const maxPassed = 1_000

/** The guard against server-side request forgery: checks the URL, then every address it connects to. */
export function createOutbound(options: OutboundOptions): Outbound {
  const policy = createAddressPolicy(options.allowedCidrs, options.deniedCidrs)
  const rules = { policy, allowHttp: options.allowHttp }
  const resolver = createGuardedResolver(policy, options.resolve, options.resolveTimeoutMs)
  const lookup = guardedLookup(resolver)
  const waiting = createPendingRequests()
  const secureContext = secureContexts(options.ca)
  const streams = createStreams({ policy, lookup, ports: options.streamPorts ?? [], secureContext })
  let agent: Agent | undefined
  let closed = false
  const getAgent = (): Agent => {
    if (closed) throw outboundError('reset')
    agent ??= openAgent()
    return agent
  }
  const openAgent = (): Agent => {
    const { Agent } = undici()
    return new Agent({
      ...measureConnector(createGuardedConnector(policy, lookup, waiting, secureContext())),
      connections: options.connectionsPerOrigin ?? 64,
      pipelining: 1,
      // The one deadline of each request replaces undici's own timers.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  }

  /** The rules do not change, so a URL that passed once is valid. */
  const passed = new LRUCache<string, URL>({ max: maxPassed })
  const checked = (text: string): URL => {
    const known = passed.get(text)
    if (known) return known
    const url = checkUrl(text, rules)
    passed.set(text, url)
    return url
  }

  const { checkTarget, connect, startTls, tlsOptions } = streams
  return {
    checkTarget,
    connect,
    startTls,
    tlsOptions,
    checkUrl: (url, path) => void checkUrl(url, rules, path),
    request: async (request) => send(request, getAgent(), waiting, () => checked(request.url)),
    async close() {
      closed = true
      resolver.close()
      streams.close()
      await agent?.destroy()
    },
  }
}

/** CAs trusted by TLS, parsed once: parsing all of them for each connection costs more than the handshake. */
function secureContexts(operatorsCa: string | undefined): (ca?: string) => SecureContext | undefined {
  let usual: SecureContext | undefined
  return (ca) => {
    if (ca !== undefined) return createSecureContext({ ca })
    if (operatorsCa) usual ??= createSecureContext({ ca: [...rootCertificates, operatorsCa] })
    return usual
  }
}

/** Maximum interim responses, such as 103, before the final one; nothing else limits them. */
const maxInterim = 16

async function send(
  request: OutboundRequest,
  agent: Agent,
  waiting: PendingRequests,
  check: () => URL,
): Promise<OutboundResponse> {
  const startedAt = performance.now()
  const url = parseTarget(check)
  const deadline = new AbortController()
  const expire = () => deadline.abort(outboundError('timeout'))
  const cancel = () => deadline.abort(new OutboundError('reset', 'The request was cancelled.'))
  if (request.signal?.aborted) cancel()
  request.signal?.addEventListener('abort', cancel)
  const timer = setTimeout(expire, request.timeoutMs)
  const visit = waiting.begin(url.origin)
  const phases = new RequestPhases()
  let interim = 0
  const once = () =>
    undici().request(url, {
      dispatcher: agent,
      method: request.method,
      headers: request.headers,
      body: request.body ?? null,
      signal: deadline.signal,
      opaque: phases,
      onInfo() {
        if (++interim > maxInterim) deadline.abort(outboundError('protocol'))
      },
    })
  /** Repeats the request if the server closed a kept connection at the moment it was used again. */
  const sendWithRetry = (): ReturnType<typeof once> =>
    once().catch((error: unknown) => {
      const keptOneClosed = toOutboundError(error).kind === 'reset' && visit.opened() === 0
      if (request.repeatable && keptOneClosed && !deadline.signal.aborted) return sendWithRetry()
      throw error
    })
  try {
    // undici checks the signal only once there is a connection; the race also ends a request that waits for one.
    const response = await Promise.race([sendWithRetry(), rejectOnAbort(deadline.signal)])
    phases.answered()
    const headers = flatten(response.headers)
    const read = request.statusDecides ? readPartialBody : readBody
    const body = await read(response.body, headers['content-encoding'], request.maxResponseBytes)
    if (body.truncated && request.signal?.aborted) throw deadline.signal.reason
    return { status: response.statusCode, headers, ...body, durationMs: performance.now() - startedAt }
  } catch (error) {
    throw deadline.signal.aborted ? deadline.signal.reason : toOutboundError(error)
  } finally {
    clearTimeout(timer)
    visit.end()
    request.measured?.(phases.timings())
    request.signal?.removeEventListener('abort', cancel)
  }
}

/** A URL that was valid when it was stored may violate the current rules. */
function parseTarget(check: () => URL): URL {
  try {
    return check()
  } catch (error) {
    throw new OutboundError(
      'blocked_address',
      error instanceof Error ? error.message : 'The URL is refused.',
      {
        cause: error,
      },
    )
  }
}

export function flatten(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      // A parsed or copied record cannot have an entry with this name.
      .filter(([name]) => name !== '__proto__')
      .map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  )
}
