import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { z } from 'zod'
import type { InternalVerifier } from '../calls/internal-token.js'
import { frameChannel } from './frame-channel.js'
import { decodeCredit, type Frame, link } from './frames.js'
import { type FeedSender, LinkedResponse } from './linked-response.js'

export interface LinkServer {
  /** Handles a server's `upgrade` event. */
  accept(req: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Accepts no more feeds; links end after their last feed. */
  drain(): void
}

export interface LinkServerOptions {
  verifier: InternalVerifier
  /** Answers the request for a feed, which has not been authenticated yet. */
  serve(req: IncomingMessage, res: ServerResponse): void
  /** Answers a request with `Upgrade` that does not ask for a link. */
  serveOther(req: IncomingMessage, socket: Duplex): void
}

const maxRequestBytes = 64 * 1024
const Opening = z.object({ url: z.string().startsWith('/'), headers: z.array(z.string()) })

/** Accepts links from the gateway. Each feed is a separate request with its client's token. */
export function linkServer({ verifier, serve, serveOther }: LinkServerOptions): LinkServer {
  const links = new Set<{ drain(): void }>()
  let isDraining = false

  const open = (socket: Duplex, head: Buffer) => {
    const feeds = new Map<number, LinkedResponse>()
    const waiting = new Set<LinkedResponse>()
    const endIfUnused = () => {
      if (isDraining && feeds.size === 0) socket.end()
    }
    const senderOf = (feed: number, request: IncomingMessage): FeedSender => ({
      send: (kind, payload) => send(kind, feed, payload),
      isFull: () => socket.writableNeedDrain,
      waitForRoom: (response) => void waiting.add(response),
      begun() {
        request.headers = {}
      },
      over() {
        feeds.delete(feed)
        endIfUnused()
      },
    })
    const begin = (feed: number, payload: Buffer) => {
      if (isDraining || feeds.size >= link.maxFeeds) return send('refused', feed)
      const { url, headers } = Opening.parse(JSON.parse(payload.toString()))
      const request = linkedRequest(url, headers)
      const response = new LinkedResponse(senderOf(feed, request))
      feeds.set(feed, response)
      serve(request, response as unknown as ServerResponse)
    }
    const onFrame = (frame: Frame) => {
      const response = feeds.get(frame.feed)
      if (frame.kind === 'open' && !response) begin(frame.feed, frame.payload)
      else if (frame.kind === 'close') {
        response?.leave()
      } else if (frame.kind === 'credit') response?.credit(decodeCredit(frame))
    }
    const send = frameChannel(socket, {
      ...{ head, maxBytes: maxRequestBytes, onFrame },
      onInvalid: () => socket.destroy(),
    })
    const self = {
      drain() {
        send('drain', 0)
        endIfUnused()
      },
    }
    links.add(self)
    socket.on('drain', () => {
      const responses = [...waiting]
      waiting.clear()
      for (const response of responses) response.resume()
    })
    socket.on('end', () => socket.destroy())
    socket.once('close', () => {
      links.delete(self)
      for (const response of [...feeds.values()]) response.leave()
    })
    if (isDraining) self.drain()
  }

  return {
    accept(req, socket, head) {
      socket.on('error', () => socket.destroy())
      admit(req, verifier).then(
        () => {
          socket.write(
            `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${link.protocol}\r\n\r\n`,
          )
          open(socket, head)
        },
        () => serveOther(req, socket),
      )
    },
    drain() {
      isDraining = true
      for (const each of links) each.drain()
    },
  }
}

/**
 * Only the gateway, which acts for many clients, may open a link. The client of each
 * feed is identified by the feed's own token.
 */
async function admit(
  { method = '', url, headers }: IncomingMessage,
  verifier: InternalVerifier,
): Promise<void> {
  if (url !== link.path || headers.upgrade !== link.protocol) throw new Error('what is asked for is no link')
  const token = headers.authorization?.replace(/^bearer /i, '') ?? ''
  const verified = await verifier.verify(token, { method, path: url })
  if (verified.kind !== 'service' || verified.issuer !== 'gateway')
    throw new Error('a link is for the gateway')
}

/** The part of Node's IncomingMessage that handlers of feeds use. */
function linkedRequest(url: string, lines: readonly string[]): IncomingMessage {
  const headers: IncomingHttpHeaders = {}
  for (let at = 0; at + 1 < lines.length; at += 2) headers[(lines[at] ?? '').toLowerCase()] ??= lines[at + 1]
  const request = { method: 'GET', url, path: url.replace(/\?.*$/, ''), headers }
  return request as unknown as IncomingMessage
}
