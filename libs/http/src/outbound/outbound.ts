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
  /** Blocks that may be called although they are special, such as `127.0.0.0/8` in a local run. */
  allowedCidrs: readonly string[]
  /** Blocks that may not be called although they are public, such as the operator's own. */
  deniedCidrs?: readonly string[]
  /** Plain http: to any host, to none, or to loopback hosts only. */
  allowHttp: boolean | 'loopback'
  /** PEM certificates trusted in addition to the public authorities. */
  ca?: string
  /** Connections held open to one origin; further requests wait for one. */
  connectionsPerOrigin?: number
  /** Replaces the hosts file and DNS. */
  resolve?: Resolve
  /** What finding the addresses of one name may take; 5 s unless given. */
  resolveTimeoutMs?: number
  /** Ports below 1024 that streams may be opened to; none unless given. */
  streamPorts?: readonly number[]
}

export interface OutboundRequest {
  url: string
  method: Dispatcher.HttpMethod
  headers: Record<string, string>
  body?: string | Buffer
  /** One deadline, from DNS to the last byte of the body. */
  timeoutMs: number
  /** Of the decompressed body; the rest is not read. An answer of more than 8 MiB on the wire is cut anyway. */
  maxResponseBytes: number
  /**
   * The receiver can tell a repetition: the request is made again, within its deadline, when a connection kept
   * from earlier ones turns out to be closed before there is an answer.
   */
  repeatable?: boolean
  /**
   * The status line decides: the body is read in what is left of the time, and one that does not come to its end is
   * `truncated`. Without it such an answer is a failure.
   */
  statusDecides?: boolean
  signal?: AbortSignal
  /** Called once it is over, with an answer or without; not for a URL that is refused. */
  measured?(timings: OutboundTimings): void
}

export interface OutboundResponse {
  status: number
  /** Lower-case names; repeated headers are joined by a comma. */
  headers: Record<string, string>
  body: Buffer
  truncated: boolean
  /** The body is cut where it stopped making sense: it does not decompress. */
  isBroken?: true
  durationMs: number
}

/** Everything the platform calls on a tenant's behalf goes through here. */
export interface Outbound extends OutboundStreams {
  /**
   * Throws ApiError `validation_failed` at `path` for a URL that would never be called. Names are not resolved: whether
   * an internal one exists is not revealed, and its address is checked at each call.
   */
  checkUrl(url: string, path?: string): void
  /** Sends one request; no redirects, no retries. Throws OutboundError. */
  request(request: OutboundRequest): Promise<OutboundResponse>
  close(): Promise<void>
}

/** URLs whose check is remembered. */
const maxPassed = 1_000

/** The guard against server-side request forgery: URL rules, then every address checked when it is dialled. */
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
  const opened = (): Agent => {
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

  /** The rules stay as they are, so what passed them once passes them again. */
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
    request: async (request) => send(request, opened(), waiting, () => checked(request.url)),
    async close() {
      closed = true
      resolver.close()
      streams.close()
      await agent?.destroy()
    },
  }
}

/** Whom TLS trusts, in the form it needs: parsing all the authorities for each connection costs more than its handshake. */
function secureContexts(operatorsCa: string | undefined): (ca?: string) => SecureContext | undefined {
  let usual: SecureContext | undefined
  return (ca) => {
    if (ca !== undefined) return createSecureContext({ ca })
    if (operatorsCa) usual ??= createSecureContext({ ca: [...rootCertificates, operatorsCa] })
    return usual
  }
}

/** Answers such as 103 that an endpoint may send before the one that counts; nothing else bounds them. */
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
  /** A server may close a kept connection at the very moment it is used again. */
  const answered = (): ReturnType<typeof once> =>
    once().catch((error: unknown) => {
      const keptOneClosed = toOutboundError(error).kind === 'reset' && visit.opened() === 0
      if (request.repeatable && keptOneClosed && !deadline.signal.aborted) return answered()
      throw error
    })
  try {
    // undici notices the signal once a connection is there; a request that waits for one is given up here.
    const response = await Promise.race([answered(), rejectOnAbort(deadline.signal)])
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

/** A URL that was acceptable when it was stored may not be under today's rules. */
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
      // No record has an entry of this name once it is parsed, or copied by assignment.
      .filter(([name]) => name !== '__proto__')
      .map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  )
}
