import type { IncomingMessage } from 'node:http'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Duplex } from 'node:stream'
import {
  clientTls,
  creditPayload,
  type Frame,
  frameChannel,
  type InternalTls,
  link,
  type SendFrame,
} from '@opsplane/http'
import { z } from 'zod'

/** Connections to one service, each shared by the feeds of many clients. */
export interface Links {
  /** Requests a feed. `headers`: name, value, name, value … */
  open(request: { path: string; headers: readonly string[] }, reader: FeedReader): Feed
  close(): void
}

/** Receiver of a feed. Methods are called in this order, and never after the feed is closed. */
export interface FeedReader {
  onHead(status: number, headers: readonly string[]): void
  onData(bytes: Buffer): void
  /** The feed is complete. */
  onEnd(): void
  /** The feed was interrupted; nothing more arrives. */
  onLost(error: Error): void
}

export interface Feed {
  /** Acknowledges consumed bytes, so that the service may send as many more. */
  taken(bytes: number): void
  /** The client disconnected. */
  close(): void
}

export interface LinksOptions {
  url: string
  tls: InternalTls | undefined
  /** Token of the gateway itself. */
  token(): Promise<string>
  /** Maximum milliseconds to connect, and between data while a feed is open. */
  timeoutMs: number
}

const maxFrameBytes = 16 * 1024 * 1024
/** Milliseconds for which an unused link is kept for the next feed. */
const unusedMs = 4_000
const Head = z.object({ status: z.int(), headers: z.array(z.string()) })

export function createLinks(options: LinksOptions): Links {
  const open = new Set<Link>()
  return {
    open(request, reader) {
      let found: Link | undefined
      for (const each of open) if (each.hasRoom()) found ??= each
      const chosen = found ?? new Link(options, () => open.delete(chosen))
      open.add(chosen)
      return chosen.open(request, reader)
    },
    close() {
      for (const each of [...open]) each.fail(new Error('the gateway ends'))
    },
  }
}

/** One connection; feeds requested before it is established wait for it. */
class Link {
  readonly #feeds = new Map<number, FeedReader>()
  readonly #over: () => void
  readonly #timeoutMs: number
  #waiting: Parameters<SendFrame>[] = []
  #send: SendFrame = (...frame) => void this.#waiting.push(frame)
  #socket: Duplex | undefined
  #lastFeed = 0
  #isDraining = false
  #isOver = false
  #unused: NodeJS.Timeout | undefined

  constructor(options: LinksOptions, over: () => void) {
    this.#over = over
    this.#timeoutMs = options.timeoutMs
    connect(options).then(
      ({ socket, head }) => this.#begin(socket, head),
      (error: Error) => this.fail(error),
    )
  }

  hasRoom(): boolean {
    return !this.#isDraining && !this.#isOver && this.#feeds.size < link.maxFeeds
  }

  open({ path, headers }: { path: string; headers: readonly string[] }, reader: FeedReader): Feed {
    clearTimeout(this.#unused)
    const feed = ++this.#lastFeed
    this.#feeds.set(feed, reader)
    this.#send('open', feed, JSON.stringify({ url: path, headers }))
    return {
      taken: (bytes) => this.#send('credit', feed, creditPayload(bytes)),
      close: () => {
        if (!this.#feeds.has(feed)) return
        this.#send('close', feed)
        this.#forget(feed)
      },
    }
  }

  fail(error: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#unused)
    this.#over()
    this.#socket?.destroy()
    for (const [feed, reader] of [...this.#feeds]) {
      this.#feeds.delete(feed)
      reader.onLost(error)
    }
  }

  #begin(socket: Duplex & { setTimeout?(ms: number, act: () => void): void }, head: Buffer): void {
    if (this.#isOver) {
      socket.destroy()
      return
    }
    this.#socket = socket
    this.#send = frameChannel(socket, {
      ...{ head, maxBytes: maxFrameBytes },
      onFrame: (frame) => this.#onFrame(frame),
      onInvalid: (error) => this.fail(error),
    })
    for (const frame of this.#waiting.splice(0)) this.#send(...frame)
    socket.on('error', (error) => this.fail(error))
    socket.once('close', () => this.fail(new Error('the link was closed')))
    // Every feed has a heartbeat, so silence means a failure.
    socket.setTimeout?.(this.#timeoutMs, () => this.fail(new Error('the service is silent')))
    if (this.#feeds.size === 0) this.#endUnused()
  }

  #onFrame({ kind, feed, payload }: Frame): void {
    if (kind === 'drain') this.#isDraining = true
    const reader = this.#feeds.get(feed)
    if (reader === undefined) return
    if (kind === 'data') reader.onData(payload)
    else if (kind === 'head') {
      const { status, headers } = Head.parse(JSON.parse(payload.toString()))
      reader.onHead(status, headers)
    } else if (kind === 'end' || kind === 'cut' || kind === 'refused') {
      this.#forget(feed)
      if (kind === 'end') reader.onEnd()
      else reader.onLost(new Error(`the feed was ${kind}`))
    }
  }

  #forget(feed: number): void {
    this.#feeds.delete(feed)
    if (this.#feeds.size === 0) this.#endUnused()
  }

  #endUnused(): void {
    clearTimeout(this.#unused)
    this.#unused = setTimeout(
      () => this.fail(new Error('the link is not used')),
      this.#isDraining ? 0 : unusedMs,
    )
    this.#unused.unref()
  }
}

async function connect({
  url,
  tls,
  token,
  timeoutMs,
}: LinksOptions): Promise<{ socket: Duplex; head: Buffer }> {
  const authorization = `Bearer ${await token()}`
  const address = new URL(link.path, url)
  return new Promise((resolve, reject) => {
    const request = (address.protocol === 'https:' ? httpsRequest : httpRequest)(address, {
      ...{ agent: false, timeout: Math.min(timeoutMs, 5_000) },
      headers: { connection: 'Upgrade', upgrade: link.protocol, authorization },
      ...clientTls(tls),
    })
    request.once('upgrade', (_response: IncomingMessage, socket: Duplex, head: Buffer) =>
      resolve({ socket, head }),
    )
    request.once('response', (response) => {
      request.destroy()
      reject(new Error(`a link was answered with ${response.statusCode}`))
    })
    request.once('timeout', () => request.destroy(new Error('a link was not answered in time')))
    request.once('error', reject)
    request.end()
  })
}
