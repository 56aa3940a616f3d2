import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { ApiError } from '@opsplane/contracts'
import { responseHeaders } from '../forwarded-headers.js'
import type { OpenAnswer } from '../open-answers/open-answers.js'
import { type ForwardedRequest, serviceUnavailable, type Upstream, upstreamTimeout } from '../upstream.js'
import type { Feed, FeedReader, Links } from './links.js'

export interface LinkedUpstreamOptions {
  links: Links
  /** Used when no link is available. */
  plain: Upstream
  /** Maximum milliseconds until a feed begins. */
  timeoutMs: number
}

/** Bytes consumed before they are acknowledged to the service. */
const creditBytes = 16 * 1024

/**
 * Sends requests for feeds over links: a separate connection for each would need three
 * times the memory in gateway and service.
 */
export function createLinkedUpstream({ links, plain, timeoutMs }: LinkedUpstreamOptions): Upstream {
  return {
    forward: (forwarding) => new LinkedAnswer(forwarding, { links, plain, timeoutMs }).begin(),
    close: async () => links.close(),
  }
}

/** One feed on its way to its client. Keeps nothing of the request after the response has begun. */
class LinkedAnswer implements FeedReader {
  readonly #res: ServerResponse
  readonly #options: LinkedUpstreamOptions
  #forwarding: ForwardedRequest | undefined
  #timer: NodeJS.Timeout | undefined
  #over: (() => void) | undefined
  #feed: Feed | undefined
  #answer: OpenAnswer | undefined
  /** Data received while the client's permission is being checked. */
  #held: Buffer[] | undefined
  #hasEnded = false
  #isOver = false
  #taken = 0
  #waitsForDrain = false
  #isFirst = true

  constructor(forwarding: ForwardedRequest, options: LinkedUpstreamOptions) {
    this.#forwarding = forwarding
    this.#options = options
    this.#res = forwarding.res
    this.#over = forwarding.over
  }

  begin(): void {
    const { links, timeoutMs } = this.#options
    const forwarding = this.#forwarding
    if (!forwarding) return
    this.#res.once('close', this.#onClose)
    this.#timer = setTimeout(() => this.#fail(upstreamTimeout()), timeoutMs)
    this.#feed = links.open(forwarding, this)
  }

  onHead(status: number, lines: readonly string[]): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const forwarding = this.#forwarding
    if (!forwarding || this.#isOver) return
    const { rechecks, answerHeaders, setCookies } = forwarding
    const begin = () => {
      this.#res.writeHead(status, responseHeaders(headersOf(lines), answerHeaders, setCookies))
      this.#forwarding = undefined
    }
    if (!rechecks) begin()
    else
      this.#hold(rechecks.begin(), () => {
        begin()
        this.#answer = rechecks.follow((error) => this.#fail(error))
      })
  }

  onData(bytes: Buffer): void {
    if (this.#held) this.#held.push(bytes)
    else if (!this.#answer || this.#answer.isConfirmed()) this.#write(bytes)
    else {
      // Data that arrives meanwhile is checked again, unless the confirmation is still valid then.
      this.#hold(this.#answer.confirmed(), () => this.#write(bytes))
    }
  }

  onEnd(): void {
    this.#hasEnded = true
    if (!this.#held) this.#finish()
  }

  onLost(error: Error): void {
    const forwarding = this.#forwarding
    if (!forwarding || this.#res.headersSent || this.#isOver) this.#fail(error)
    else {
      // Nothing was sent yet, and requests for feeds only read, so the request can be repeated.
      this.#leave()
      this.#options.plain.forward(forwarding)
    }
  }

  /** Continues once the client's permission is confirmed; ends the response if it is not. */
  #hold(allowed: Promise<void>, goOn: () => void): void {
    this.#held = []
    allowed.then(
      () => {
        if (this.#isOver) return
        const bufferedChunks = this.#held ?? []
        this.#held = undefined
        goOn()
        for (const bytes of bufferedChunks) this.onData(bytes)
        if (this.#hasEnded && !this.#held) this.#finish()
      },
      (error: Error) => this.#fail(error),
    )
  }

  #write(bytes: Buffer): void {
    this.#taken += bytes.length
    const hasRoom = this.#res.write(bytes)
    if (this.#isFirst) releaseHeaders(this.#res)
    this.#isFirst = false
    if (!hasRoom && !this.#waitsForDrain) {
      this.#waitsForDrain = true
      this.#res.once('drain', () => {
        this.#waitsForDrain = false
        this.#credit()
      })
    }
    if (!this.#waitsForDrain) this.#credit()
  }

  #credit(): void {
    if (this.#taken < creditBytes || this.#isOver) return
    this.#feed?.taken(this.#taken)
    this.#taken = 0
  }

  #finish(): void {
    if (this.#isOver) return
    this.#leave()
    this.#over?.()
    this.#res.end()
  }

  #fail(error: Error): void {
    if (this.#isOver) return
    const forwarding = this.#forwarding
    this.#leave()
    this.#over?.()
    // Destroyed, so that the client cannot mistake a part for the whole.
    if (this.#res.headersSent || this.#res.destroyed || !forwarding) this.#res.destroy()
    else forwarding.fail(error instanceof ApiError ? error : serviceUnavailable(error))
  }

  readonly #onClose = () => {
    if (this.#isOver) return
    this.#leave()
    this.#over?.()
  }

  #leave(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#res.off('close', this.#onClose)
    this.#answer?.stop()
    this.#feed?.close()
  }
}

/**
 * Node keeps the headers of request and response until the response ends: 2.9 KB for each of thousands of streams that
 * are open for hours. 2.0 KB of it is the text of the response headers, which only a private field refers to;
 * `headersSent` is true while the field is not empty.
 */
function releaseHeaders(res: ServerResponse): void {
  res.req.rawHeaders = []
  res.req.headers = {}
  Reflect.set(res, '_header', ' ')
}

function headersOf(lines: readonly string[]): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = {}
  for (let at = 0; at + 1 < lines.length; at += 2) headers[(lines[at] ?? '').toLowerCase()] = lines[at + 1]
  return headers
}
