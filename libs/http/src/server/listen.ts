import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type RequestListener,
  ServerResponse,
} from 'node:http'
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ApiError } from '@opsplane/contracts'
import { delay, type Logger } from '@opsplane/runtime'
import type { InternalTls } from '../calls/internal-tls.js'
import { findFeeds } from '../links/feeds.js'
import { type LinkServer, linkServer } from '../links/link-server.js'
import { messageClasses } from '../openapi/message-classes.js'
import { answerClientError } from './client-error.js'
import { sendError } from './errors.js'
import { beginExchange } from './exchange.js'

export interface ListenOptions {
  port: number
  host: string
  log: Logger
  /** If absent, connections are not encrypted. */
  tls?: InternalTls | undefined
  /**
   * How long requests are still accepted after close() was called, while `/readyz` reports draining. Each response
   * closes its connection, so a client with kept connections moves to another replica without a reset. Default 0.
   */
  drainDelayMs?: number
  /** How long requests in flight may then take before they are cut. Default 25 s. */
  drainTimeoutMs?: number
  /** Called when no more requests are accepted, to end those that wait for something (long-polls). */
  onDrain?: () => void
}

export interface Listening {
  port: number
  server: Server
  /** Stops accepting, finishes requests in flight, closes idle connections. Safe to call twice. */
  close(): Promise<void>
}

type Server = HttpServer | HttpsServer

const idleSweepMs = 20
/** All clients of a dead replica reconnect concurrently; one that is not accepted retries only seconds later. */
const backlog = 4096

/** Serves an app. `port` 0 selects a free port. Rejects if the address is in use. */
export async function listen(app: RequestListener, options: ListenOptions): Promise<Listening> {
  const { port, host, log } = options
  // A client with kept connections (the gateway) must be the side that closes idle ones; otherwise it gets resets.
  const settings = {
    ...messageClasses(app),
    keepAliveTimeout: 65_000,
    headersTimeout: 20_000,
    requestTimeout: 120_000,
    noDelay: true,
    // Node would otherwise answer by itself, without the envelope and the usual headers.
    requireHostHeader: false,
  }
  const state = { draining: false }
  const answer = withHost(withDraining(app, state, log), log)
  const server = options.tls
    ? createHttpsServer({ ...settings, ...serverTls(options.tls) }, answer)
    : createHttpServer(settings, answer)
  // An unknown expectation may be ignored.
  server.on('checkExpectation', (req, res) => server.emit('request', req, res))
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => answerClientError(error, socket, log))
  // A response would wait for the handshake, which has failed.
  server.on('tlsClientError', (_error: Error, socket: Socket) => socket.destroy())
  const unused = trackUnused(server)
  const feeds = findFeeds(app)
  const serveOther = (req: IncomingMessage, socket: Duplex) => answerWithoutUpgrade(server, req, socket)
  const links = feeds && linkServer({ ...feeds, serveOther })
  if (links) server.on('upgrade', links.accept)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host, backlog }, () => {
      server.off('error', reject)
      resolve()
    })
  })
  let closed: Promise<void> | undefined
  return {
    port: (server.address() as AddressInfo).port,
    server,
    close() {
      state.draining = true
      closed ??= drain(server, unused, { ...options, links })
      return closed
    },
  }
}

/**
 * Answers as if no upgrade had been requested, which HTTP permits. Reads nothing more,
 * because Node has detached the connection.
 */
function answerWithoutUpgrade(server: Server, req: IncomingMessage, socket: Duplex): void {
  const res = new ServerResponse(req)
  req.push(null)
  res.assignSocket(socket as Socket)
  res.shouldKeepAlive = false
  res.once('finish', () => socket.end())
  server.emit('request', req, res)
}

/** HTTP/1.1 requires servers to reject requests without a Host header. */
function withHost(app: RequestListener, log: Logger): RequestListener {
  return (req, res) => {
    if (req.headers.host !== undefined || req.httpVersion !== '1.1') return app(req, res)
    const problem = new ApiError('malformed_url', 'The request has no Host header.')
    sendError(beginExchange(req, res, 'none', log), problem)
  }
}

/** While draining, responses close their connections, and `/readyz` is answered here. */
function withDraining(app: RequestListener, state: { draining: boolean }, log: Logger): RequestListener {
  return (req, res) => {
    if (!state.draining) return app(req, res)
    res.shouldKeepAlive = false
    if (req.url !== '/readyz') return app(req, res)
    const problem = new ApiError('service_unavailable', 'Not ready: this replica is about to end.')
    sendError(beginExchange(req, res, '/readyz', log), problem)
  }
}

const serverTls = ({ cert, key, ca, mutual }: InternalTls) => ({
  ...{ cert, key, minVersion: 'TLSv1.3' as const, handshakeTimeout: 10_000 },
  ...(mutual && { ca, requestCert: true, rejectUnauthorized: true }),
})

/**
 * Connections that have sent nothing yet, such as spare ones of browsers: Node does not count them as idle. With TLS, a
 * connection is included before its handshake, of which Node is not aware, and again after it.
 */
function trackUnused(server: Server): ReadonlySet<Socket> {
  const unused = new Set<Socket>()
  for (const event of ['connection', 'secureConnection'])
    server.on(event, (socket: Socket) => {
      unused.add(socket)
      socket.once('close', () => unused.delete(socket))
    })
  server.on('request', ({ socket }) => unused.delete(socket))
  return unused
}

async function drain(
  server: Server,
  unused: ReadonlySet<Socket>,
  {
    log,
    drainDelayMs = 0,
    drainTimeoutMs = 25_000,
    onDrain,
    links,
  }: ListenOptions & { links: LinkServer | undefined },
): Promise<void> {
  links?.drain()
  if (drainDelayMs > 0) await delay(drainDelayMs)
  return new Promise((resolve, reject) => {
    const sweep = setInterval(() => {
      server.closeIdleConnections()
      for (const socket of unused) if (socket.bytesRead === 0) socket.destroy()
    }, idleSweepMs)
    const deadline = setTimeout(() => {
      log.warn({ drainTimeoutMs }, 'the drain time is over; requests in flight are cut off')
      server.closeAllConnections()
      for (const socket of unused) socket.destroy()
    }, drainTimeoutMs)
    server.close((error) => {
      clearInterval(sweep)
      clearTimeout(deadline)
      if (error) reject(error)
      else resolve()
    })
    onDrain?.()
  })
}
