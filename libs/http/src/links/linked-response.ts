import { EventEmitter } from 'node:events'
import { type FrameKind, link } from './frames.js'

/** What a link does for one of its feeds. */
export interface FeedSender {
  send(kind: FrameKind, payload?: string | Uint8Array): void
  /** Whether its connection takes no more at this moment. */
  isFull(): boolean
  /** To be called back by `resume` once it takes more. */
  waitForRoom(response: LinkedResponse): void
  /** Its answer has begun: nothing of its request is needed any more. */
  begun(): void
  /** The feed is over. */
  over(): void
}

/** Of Node's ServerResponse what answers of feeds use, for a feed that shares its connection with others. */
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

  /** Whether there is room for more; `drain` says when there is again. */
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

  /** The reader has left. */
  leave(): void {
    if (this.destroyed || this.writableFinished) return
    this.destroyed = true
    this.#close()
  }

  /** The reader has taken so many bytes. */
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
