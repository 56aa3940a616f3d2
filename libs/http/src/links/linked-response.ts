import { EventEmitter } from 'node:events'
import { type FrameKind, link } from './frames.js'

/** Operations of a link on behalf of one of its feeds. */
export interface FeedSender {
  send(kind: FrameKind, payload?: string | Uint8Array): void
  /** Whether the connection's write buffer is full. */
  isFull(): boolean
  /** Registers the response: `resume` is called when the connection accepts more. */
  waitForRoom(response: LinkedResponse): void
  /** The response has begun: the data of its request can be released. */
  begun(): void
  /** The feed has ended. */
  over(): void
}

/** The part of Node's ServerResponse that handlers of feeds use, for a feed that shares its connection with others. */
export class LinkedResponse extends EventEmitter {
  statusCode = 200
  headersSent = false
  destroyed = false
  writableFinished = false
  readonly #sender: FeedSender
  #onTheWay = 0
  #isWaiting = false

  constructor(sender: FeedSender) {
    super()
    this.#sender = sender
  }

  writeHead(status: number, headers: readonly string[] = []): this {
    this.statusCode = status
    this.headersSent = true
    this.#sender.send('head', JSON.stringify({ status, headers }))
    this.#sender.begun()
    return this
  }

  /** Returns whether there is room for more; if not, `drain` is emitted when there is. */
  write(text: string | Uint8Array): boolean {
    if (this.destroyed || this.writableFinished) return false
    this.#onTheWay += Buffer.byteLength(text)
    this.#sender.send('data', text)
    if (this.#hasRoom()) return true
    this.#isWaiting = true
    if (this.#sender.isFull()) this.#sender.waitForRoom(this)
    return false
  }

  end(text: string | Uint8Array = ''): this {
    if (this.destroyed || this.writableFinished) return this
    if (text.length > 0) this.#sender.send('data', text)
    this.#sender.send('end')
    this.writableFinished = true
    this.#close()
    return this
  }

  destroy(): this {
    if (this.destroyed || this.writableFinished) return this
    this.#sender.send('cut')
    this.leave()
    return this
  }

  /** The reader has disconnected. */
  leave(): void {
    if (this.destroyed || this.writableFinished) return
    this.destroyed = true
    this.#close()
  }

  /** The reader has consumed this many bytes. */
  credit(bytes: number): void {
    this.#onTheWay = Math.max(0, this.#onTheWay - bytes)
    this.resume()
  }

  resume(): void {
    if (!this.#isWaiting || this.destroyed) return
    if (this.#sender.isFull()) this.#sender.waitForRoom(this)
    else if (this.#hasRoom()) {
      this.#isWaiting = false
      this.emit('drain')
    }
  }

  #hasRoom(): boolean {
    return this.#onTheWay < link.windowBytes && !this.#sender.isFull()
  }

  #close(): void {
    this.#sender.over()
    this.emit('close')
  }
}
