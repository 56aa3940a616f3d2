import { isIP, type LookupFunction, type NetConnectOpts, connect as openSocket, type Socket } from 'node:net'
import { type ConnectionOptions, connect as openTls, type SecureContext } from 'node:tls'
import { invalidField } from '@opsplane/contracts'
import type { AddressPolicy } from './addresses.js'
import { connectFailure } from './connector.js'
import { OutboundError, outboundError } from './outbound-error.js'
import { limitResponses } from './response-limit.js'
import { hostWithoutBrackets, literalAllowed, normalizeHostname, refusedPorts } from './url-rules.js'

/** A server that speaks something else than HTTP. */
interface StreamTarget {
  /** A name, or an address in any notation. */
  host: string
  port: number
  /** It speaks HTTP after all, at a port that the rules of URLs have allowed. */
  http?: boolean
}

interface StreamRequest extends StreamTarget {
  /** TLS from the first byte on; without it the stream is plain, and `startTls` makes it a secure one later. */
  tls?: StreamTls
  /** One deadline for DNS, TCP and TLS. */
  timeoutMs: number
  /** Cuts the stream whenever it aborts, long after it was opened as well. */
  signal?: AbortSignal
}

interface StreamTls {
  /** Whether the certificate must be of a trusted authority and for the host: on unless it says false. */
  verify?: boolean
  /** PEM certificates trusted instead of the public authorities and the operator's. */
  ca?: string
}

/** Streams to servers that tenants name, such as databases and mail servers. */
export interface OutboundStreams {
  /** Throws ApiError `validation_failed` below `path` for a target that no stream would ever be opened to. */
  checkTarget(target: StreamTarget, path?: string): void
  /**
   * Opens a stream to an address that was checked; of an answer of more than 8 MiB it is cut. Its errors need no
   * listener. Throws OutboundError.
   */
  connect(request: StreamRequest): Promise<Socket>
  /** Makes a plain stream of `connect` a secure one, for protocols that agree on TLS first. Throws OutboundError. */
  startTls(plain: Socket, host: string, tls?: StreamTls): Promise<Socket>
  /** What `tls.connect` has to be given, for libraries that start TLS themselves. Throws OutboundError. */
  tlsOptions(host: string, tls?: StreamTls): ConnectionOptions
}

interface StreamsOptions {
  policy: AddressPolicy
  lookup: LookupFunction
  /** Ports below 1024 that streams may be opened to. */
  ports: readonly number[]
  /** The authorities that are trusted; null for the public ones. */
  secureContext(ca?: string): SecureContext | undefined
}

export function createStreams({ policy, lookup, ports, secureContext }: StreamsOptions): OutboundStreams & {
  close(): void
} {
  const open = new Set<Socket>()
  let closed = false

  /** The host as it is dialled. */
  const checked = ({ host, port, http }: StreamTarget, path = ''): string => {
    const hostname = normalizeHostname(host)
    if (hostname === undefined)
      throw invalidField(`${path}/host`, 'invalid_host', 'Must be the name or the address of a host.')
    if (!portAllowed(port, http ? [...ports, ...httpPorts] : ports))
      throw invalidField(`${path}/port`, 'port_not_allowed', `Port ${port} is not allowed.`)
    if (!literalAllowed(hostname, policy)) throw invalidField(`${path}/host`, 'blocked_address', blocked)
    return hostWithoutBrackets(hostname)
  }

  const dial = ({ signal, ...request }: StreamRequest): Socket => {
    const { port } = request
    const options: NetConnectOpts = { host: dialled(request, checked), port, lookup, autoSelectFamily: true }
    const socket = openSocket({ ...options, noDelay: true })
    const cancel = () => socket.destroy(new OutboundError('reset', 'The connection was given up.'))
    open.add(socket)
    signal?.addEventListener('abort', cancel)
    // The user of the stream gets its failures from its own reads and writes.
    socket.on('error', () => {})
    socket.once('close', () => {
      open.delete(socket)
      signal?.removeEventListener('abort', cancel)
    })
    if (signal?.aborted || closed) cancel()
    return socket
  }

  const contextOf = (ca: string | undefined) => {
    try {
      return secureContext(ca)
    } catch (error) {
      throw new OutboundError('tls', 'The certificates of the authority cannot be read.', { cause: error })
    }
  }

  const tlsOptions: OutboundStreams['tlsOptions'] = (host, { verify = true, ca } = {}) => {
    const name = hostWithoutBrackets(normalizeHostname(host) ?? '').replace(/\.$/, '')
    const context = contextOf(ca)
    return {
      host: name,
      ...(isIP(name) === 0 && { servername: name }),
      rejectUnauthorized: verify,
      ...(context && { secureContext: context }),
    }
  }

  const startTls: OutboundStreams['startTls'] = async (plain, host, tls) => {
    const secure = openTls({ socket: plain, ...tlsOptions(host, tls) })
    secure.on('error', () => {})
    await opened(secure, 'secureConnect', plain)
    return limitResponses(secure)
  }

  return {
    checkTarget: (target, path) => void checked(target, path),
    startTls,
    tlsOptions,
    async connect(request) {
      const socket = dial(request)
      const timer = setTimeout(() => socket.destroy(outboundError('timeout')), request.timeoutMs)
      try {
        await opened(socket, 'connect')
        return request.tls ? await startTls(socket, request.host, request.tls) : limitResponses(socket)
      } finally {
        clearTimeout(timer)
      }
    },
    close() {
      closed = true
      for (const socket of open) socket.destroy(outboundError('reset'))
    },
  }
}

const blocked = 'Must not lead to a private, local or otherwise special address.'

const httpPorts = [80, 443]

/** Hardly anything below 1024 is a database: those that are not HTTP's, either, are the operator's to list. */
function portAllowed(port: number, listed: readonly number[]): boolean {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return false
  return listed.includes(port) || (port > 1023 && !refusedPorts.has(port))
}

/** A target that was acceptable when it was stored may not be under today's rules. */
function dialled(target: StreamTarget, check: (target: StreamTarget) => string): string {
  try {
    return check(target)
  } catch (error) {
    throw new OutboundError('blocked_address', error instanceof Error ? error.message : blocked, {
      cause: error,
    })
  }
}

/** Throws OutboundError; `beneath` is the stream whose end ends this one without a word. */
async function opened(socket: Socket, event: 'connect' | 'secureConnect', beneath = socket): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once(event, resolve)
      socket.once('error', reject)
      socket.once('close', () => reject(beneath.errored ?? outboundError('connect')))
    })
  } catch (error) {
    beneath.destroy()
    throw error instanceof OutboundError ? error : connectFailure(error)
  }
}
