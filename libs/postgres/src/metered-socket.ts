import { connect, type Socket } from 'node:net'
import { Duplex } from 'node:stream'

/**
 * Limits the bytes a server may send on one connection before they are processed: the connection is destroyed at
 * the first byte beyond the limit.
 */
export interface AnswerMeter {
  /** Resets the count and sets a new limit in bytes. */
  allow(bytes: number): void
  /** Bytes received since then, as transmitted. */
  received(): number
  /** Whether the connection was destroyed because its server sent more than was allowed. */
  exceeded(): boolean
}

/** The server address that postgres.js passes when it requests a socket. */
interface SocketOptions {
  host: readonly string[]
  port: readonly number[]
  path?: string | false
  ssl?: unknown
}

/** The `socket` option of a postgres.js client with `max: 1`, and the meter of its connection. */
export function createMeteredSocket(): { socket(options: SocketOptions): Duplex; meter: AnswerMeter } {
  let allowed = Number.POSITIVE_INFINITY
  let received = 0
  let exceeded = false
  let attempts = 0

  return {
    socket({ host, port, path, ssl }) {
      const at = attempts++ % Math.max(host.length, 1)
      const raw = path ? connect(path) : connect({ host: host[at] ?? '', port: port[at] ?? 0 })
      const count = (chunk: Buffer) => {
        received += chunk.length
        if (received <= allowed) return
        exceeded = true
        raw.destroy()
      }
      // TLS reads from the handle of a plain socket, bypassing its listeners. Certificates are checked against `host`.
      return Object.assign(ssl ? new CountedStream(raw, count) : raw.on('data', count), { host: host[at] })
    },
    meter: {
      allow(bytes) {
        allowed = bytes
        received = 0
      },
      received: () => received,
      exceeded: () => exceeded,
    },
  }
}

/** A socket whose bytes are counted below TLS. */
class CountedStream extends Duplex {
  readonly #raw: Socket

  constructor(raw: Socket, count: (chunk: Buffer) => void) {
    super({ allowHalfOpen: false })
    this.#raw = raw
    raw.on('data', (chunk) => {
      count(chunk)
      if (!this.push(chunk)) raw.pause()
    })
    raw.on('end', () => this.push(null))
    raw.on('error', (error) => this.destroy(error))
    raw.on('close', () => this.destroy())
  }

  override _read(): void {
    this.#raw.resume()
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#raw.write(chunk, done)
  }

  override _final(done: () => void): void {
    this.#raw.end(done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#raw.destroy()
    done(error)
  }
}
