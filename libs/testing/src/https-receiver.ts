import { once, setMaxListeners } from 'node:events'
import { createServer as createHttpServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { generate } from 'selfsigned'
import { type WaitForOptions, waitFor } from './wait-for.js'

export interface ReceivedRequest {
  method: string
  path: string
  headers: IncomingHttpHeaders
  rawBody: Buffer
  receivedAt: Date
}

export interface ReceiverResponse {
  status: number
  headers?: Record<string, string>
  body?: string | Buffer
  delayMs?: number
}

export interface ReceiverOptions {
  /** HTTPS unless `false`: with a generated certificate, or with the given one. */
  tls?: boolean | { key: string; cert: string }
  /** Default: 200 without a body. */
  respond?: (request: ReceivedRequest) => ReceiverResponse | Promise<ReceiverResponse>
}

export interface Receiver {
  readonly url: string
  /** The CA a client must trust; empty without TLS. */
  readonly ca: string
  received(): ReceivedRequest[]
  /** Waits until at least `count` requests have arrived and returns all of them. */
  waitForRequests(count: number, options?: WaitForOptions): Promise<ReceivedRequest[]>
  stop(): Promise<void>
}

/** Starts a real HTTPS (or HTTP) server on 127.0.0.1 that records its requests. */
export async function startReceiver({ tls = true, respond }: ReceiverOptions = {}): Promise<Receiver> {
  const requests: ReceivedRequest[] = []
  const stopping = new AbortController()
  // Every slow response adds a listener.
  setMaxListeners(0, stopping.signal)
  const answer: RequestListener = async (incoming, response) => {
    try {
      const request: ReceivedRequest = {
        method: incoming.method ?? '',
        path: incoming.url ?? '',
        headers: incoming.headers,
        rawBody: await buffer(incoming),
        receivedAt: new Date(),
      }
      requests.push(request)
      const { status, headers, body, delayMs = 0 } = (await respond?.(request)) ?? { status: 200 }
      if (delayMs > 0) await delay(delayMs, undefined, { signal: stopping.signal })
      response.writeHead(status, headers).end(body)
    } catch {
      // The sender disconnected, or the receiver is stopping in the middle of a slow response.
      response.destroy()
    }
  }

  const certificate = tls === true ? await createCertificate() : tls || undefined
  const server = certificate ? createHttpsServer(certificate, answer) : createHttpServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    ca: certificate?.cert ?? '',
    received: () => [...requests],
    waitForRequests: (count, options) =>
      waitFor(
        () => {
          if (requests.length < count) throw new Error(`${requests.length} arrived`)
          return [...requests]
        },
        { message: `${count} requests`, ...options },
      ),
    async stop() {
      stopping.abort()
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

export interface CertificateOptions {
  commonName?: string
  /** The only name in the certificate; default: localhost and 127.0.0.1. */
  host?: string
  notAfter?: Date
}

/** A self-signed certificate that clients can also trust as a CA. */
export async function createCertificate({
  commonName = 'localhost',
  host,
  notAfter,
}: CertificateOptions = {}) {
  const local = [
    { type: 2 as const, value: 'localhost' },
    { type: 7 as const, ip: '127.0.0.1' },
  ]
  const pems = await generate([{ name: 'commonName', value: commonName }], {
    keyType: 'ec',
    algorithm: 'sha256',
    ...(notAfter && { notBeforeDate: new Date(notAfter.getTime() - 86_400_000), notAfterDate: notAfter }),
    extensions: [
      // A client that trusts this certificate as a CA requires it to be one.
      { name: 'basicConstraints', cA: true },
      { name: 'subjectAltName', altNames: host === undefined ? local : [{ type: 2, value: host }] },
    ],
  })
  return { key: pems.private, cert: pems.cert }
}
