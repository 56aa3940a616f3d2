import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import type { CommandMeta, Principal, StoredResponse } from '@opsplane/contracts'
import { createLogger, systemClock } from '@opsplane/runtime'
import {
  createApp,
  createInternalIssuer,
  createInternalVerifier,
  generateServiceKeys,
  type IdempotencyStore,
  listen,
  type Route,
} from '../index.js'
import type { AppOptions } from './app.js'
import type { ListenOptions } from './listen.js'

// Shared by the tests of this lib: an app on a real port, and an in-memory store of keys.

export const user: Principal = {
  actor: { id: 'usr_1', name: 'Ada', type: 'user' },
  userId: 'usr_1',
  tokenId: 'tok_1',
  workspaceId: 'ws_1',
  workspaceSlug: 'acme',
  environment: 'production',
  permissions: ['itsm:read', 'itsm:write'],
}

const keys = { gateway: generateServiceKeys(), itsm: generateServiceKeys(), sut: generateServiceKeys() }
export const trustedKeys = Object.fromEntries(
  Object.entries(keys).map(([name, { publicKey }]) => [name, publicKey]),
)

export function issuerFor(service: keyof typeof keys) {
  return createInternalIssuer({ service, privateKey: keys[service].privateKey })
}

export const gatewayToken = (principal?: Principal) => issuerFor('gateway').clientToken('sut', principal)

interface TestCall {
  body?: unknown
  /** Sent unchanged. */
  rawBody?: string | Buffer
  headers?: Record<string, string>
  /** `null`: no Authorization header. */
  token?: string | null
}

export interface TestAnswer {
  status: number
  headers: IncomingHttpHeaders
  text: string
  json: unknown
}

export type TestApp = Awaited<ReturnType<typeof startTestApp>>

/** Serves the routes as the service `sut`; calls come from the gateway in the name of `user`. */
export async function startTestApp(
  routes: Route[],
  options: Partial<AppOptions> = {},
  listenOptions: Partial<ListenOptions> = {},
) {
  const lines: string[] = []
  const log = createLogger({
    service: 'sut',
    level: 'debug',
    destination: { write: (line) => void lines.push(line) },
  })
  const verifier = createInternalVerifier({ service: 'sut', trustedKeys })
  const app = createApp({ service: 'sut', routes, verifier, log, clock: systemClock, ...options })
  const listening = await listen(app, { port: 0, host: '127.0.0.1', log, ...listenOptions })
  const token = await gatewayToken(user)

  return {
    listening,
    url: `http://127.0.0.1:${listening.port}`,
    logged: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
    call: (method: string, path: string, call: TestCall = {}) =>
      send(listening.port, method, path, { token, ...call }),
    /** Writes bytes to a socket and reads until the server closes it. */
    raw: (bytes: string) => sendRaw(listening.port, bytes),
    close: () => listening.close(),
  }
}

function send(port: number, method: string, path: string, call: TestCall): Promise<TestAnswer> {
  const payload = call.rawBody ?? (call.body === undefined ? undefined : JSON.stringify(call.body))
  const headers = {
    ...(call.token && { authorization: `Bearer ${call.token}` }),
    ...(payload !== undefined && { 'content-type': 'application/json' }),
    ...call.headers,
  }
  return new Promise((resolve, reject) => {
    const req = httpRequest({ port, host: '127.0.0.1', method, path, headers, agent: false }, (res) => {
      const chunks: Buffer[] = []
      res.on('data', (chunk: Buffer) => chunks.push(chunk))
      res.on('error', reject)
      res.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        resolve({
          status: res.statusCode ?? 0,
          headers: res.headers,
          text,
          json: text === '' ? undefined : JSON.parse(text),
        })
      })
    })
    req.on('error', reject)
    req.end(payload)
  })
}

function sendRaw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('error', reject)
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()))
  })
}

/** In-memory store of keys. `commit` does what an event store does in the transaction of the effect. */
export class MemoryIdempotencyStore implements IdempotencyStore {
  readonly rows = new Map<string, { fingerprint: string; response: StoredResponse | null }>()

  async find(key: string) {
    return this.rows.get(key)
  }

  async claim(key: string, fingerprint: string, isRepetition: boolean): Promise<string | undefined> {
    const row = this.rows.get(key)
    if (row && !(isRepetition && row.response === null)) return undefined
    this.rows.set(key, { fingerprint, response: null })
    return 'claim'
  }

  async renew() {}

  async complete(key: string, _claim: string, response: StoredResponse) {
    const row = this.rows.get(key)
    if (row) row.response = structuredClone(response)
  }

  async replace(key: string, fingerprint: string, response: StoredResponse) {
    this.rows.set(key, { fingerprint, response: structuredClone(response) })
  }

  async release(key: string) {
    this.rows.delete(key)
  }

  commit<T>(meta: CommandMeta, data: T): T {
    if (meta.idempotency) {
      const { key, fingerprint, respond } = meta.idempotency
      this.rows.set(key, { fingerprint, response: structuredClone(respond(data)) })
    }
    return data
  }
}

/** A promise that is settled from outside. */
export function createDeferred<T = void>() {
  let resolve: (value: T) => void = () => undefined
  const promise = new Promise<T>((fulfil) => {
    resolve = fulfil
  })
  return { promise, resolve }
}
