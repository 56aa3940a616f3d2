import { isIP, type LookupFunction, type NetConnectOpts, connect as openSocket, type Socket } from 'node:net'
import { type ConnectionOptions, connect as openTls, type SecureContext } from 'node:tls'
import { invalidField } from '@opsplane/contracts'
import type { AddressPolicy } from './addresses.js'
import { connectFailure } from './connector.js'
import { OutboundError, outboundError } from './outbound-error.js'
import { limitResponses } from './response-limit.js'
import { hostWithoutBrackets, literalAllowed, normalizeHostname, refusedPorts } from './url-rules.js'

/** A server with another protocol than HTTP. */
interface StreamTarget {
  /** A name, or an address in any notation. */
  host: string
  port: number
  /** Set if the server uses HTTP on a port that the URL rules allow. */
  http?: boolean
}

interface StreamRequest extends StreamTarget {
  /** TLS from the first byte; otherwise the stream is plain, and `startTls` can secure it later. */
  tls?: StreamTls
  /** One deadline for DNS, TCP and TLS. */
  timeoutMs: number
  /** Closes the stream when it aborts, at any time after the stream was opened as well. */
  signal?: AbortSignal
}

interface StreamTls {
  /** Whether the certificate must come from a trusted CA and match the host; default `true`. */
  verify?: boolean
  /** PEM certificates trusted instead of the public CAs and the operator's. */
  ca?: string
}

/** Streams to servers named by tenants, such as databases and mail servers. */
export interface OutboundStreams {
  /** Throws ApiError `validation_failed` below `path` for a target that no stream would ever be opened to. */
  checkTarget(target: StreamTarget, path?: string): void
  /**
   * Opens a stream to a checked address. It is closed after a response of more than 8 MiB. Its
   * errors need no listener. Throws OutboundError.
   */
  connect(request: StreamRequest): Promise<Socket>
  /** Secures a plain stream of `connect`, for protocols that negotiate TLS first. Throws OutboundError. */
  startTls(plain: Socket, host: string, tls?: StreamTls): Promise<Socket>
  /** Options of `tls.connect`, for libraries that start TLS themselves. Throws OutboundError. */
  tlsOptions(host: string, tls?: StreamTls): ConnectionOptions
}

interface StreamsOptions {
  policy: AddressPolicy
  lookup: LookupFunction
  /** Ports below 1024 that streams may be opened to. */
  ports: readonly number[]
  /** Context with the trusted CAs; `undefined` for the public ones. */
  secureContext(ca?: string): SecureContext | undefined
}

export function createStreams({ policy, lookup, ports, secureContext }: StreamsOptions): OutboundStreams & {
  close(): void
} {
  const open = new Set<Socket>()
  let closed = false

  /** Returns the host to connect to. */
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
    // The user of the stream learns about failures from its own reads and writes.
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
    await waitForOpen(secure, 'secureConnect', plain)
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
        await waitForOpen(socket, 'connect')
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

/** Few ports below 1024 belong to databases. The operator must list them, apart from those of HTTP. */
function portAllowed(port: number, listed: readonly number[]): boolean {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return false
  return listed.includes(port) || (port > 1023 && !refusedPorts.has(port))
}

/** A target that was valid when it was stored may violate the current rules. */
function dialled(target: StreamTarget, check: (target: StreamTarget) => string): string {
  try {
    return check(target)
  } catch (error) {
    throw new OutboundError('blocked_address', error instanceof Error ? error.message : blocked, {
      cause: error,
    })
  }
}

/** Throws OutboundError. `beneath`: the underlying stream, whose end closes this one without an error. */
async function waitForOpen(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  beneath = socket,
): Promise<void> {
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
