import { type Mailbox, mailboxDomain } from '@opsplane/contracts'
import type { OutboundStreams } from '@opsplane/http'
import { oneLine } from '@opsplane/runtime'
import type { Transporter } from 'nodemailer'
import type { Call } from '../kind.js'
import { mailFailure } from './failures.js'

export interface MailServer {
  host: string
  port: number
  security: 'tls' | 'starttls' | 'none'
  ca: string | undefined
  from: Mailbox
  auth?: { user: string; pass: string }
}

export interface Message {
  from: Mailbox
  to: Mailbox[]
  cc: Mailbox[]
  bcc: Mailbox[]
  replyTo?: Mailbox | undefined
  messageId: string
  subject: string
  text?: string | undefined
  html?: string | undefined
  headers: Record<string, string>
  attachments: { filename: string; contentType?: string | undefined; content: Buffer }[]
}

export interface Sent {
  messageId: string
  accepted: string[]
  rejected: { address: string; message: string }[]
  response: string
}

/** A connection to a mail server for a single call. */
export interface Conversation {
  /** Sends the greeting and logs in. */
  greet(): Promise<void>
  send(message: Message): Promise<Sent>
}

export type WithMailServer = <T>(
  call: Call,
  server: MailServer,
  work: (conversation: Conversation) => Promise<T>,
) => Promise<T>

/** Connects for one call, and closes the connection when the call ends. Throws `CallFailure`. */
export function createWithMailServer(outbound: OutboundStreams): WithMailServer {
  return async (call, server, work) => {
    const { signal } = call
    const over = new AbortController()
    const stop = () => over.abort()
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    try {
      const transport = await open(outbound, server, { timeoutMs: call.remainingMs(), signal: over.signal })
      return await work(conversationOver(transport))
    } catch (error) {
      throw signal.aborted ? signal.reason : mailFailure(error)
    } finally {
      signal.removeEventListener('abort', stop)
      stop()
    }
  }
}

async function open(
  outbound: OutboundStreams,
  { host, port, security, ca, from, auth }: MailServer,
  opening: { timeoutMs: number; signal: AbortSignal },
): Promise<Transporter> {
  const tls = ca === undefined ? {} : { ca }
  const connection = await outbound.connect({ host, port, ...opening, ...(security === 'tls' && { tls }) })
  const { createTransport } = await import('nodemailer')
  const { timeoutMs } = opening
  return createTransport({
    ...{ host, port, connection, secure: security === 'tls', secured: security === 'tls' },
    ...{ requireTLS: security === 'starttls', ignoreTLS: security === 'none' },
    // Avoids revealing the name of this machine in the greeting.
    name: mailboxDomain(from),
    tls: outbound.tlsOptions(host, tls),
    ...(auth && { auth, forceAuth: true }),
    ...{ connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs },
    ...{ disableFileAccess: true, disableUrlAccess: true, socketCloseTimeout: 0 },
  })
}

interface Refusal extends Error {
  recipient?: string
}

const conversationOver = (transport: Transporter): Conversation => ({
  async greet() {
    await transport.verify()
  },
  async send(message) {
    const { accepted = [], rejectedErrors, response = '' } = await transport.sendMail(message)
    return {
      messageId: message.messageId,
      accepted,
      rejected: (rejectedErrors ?? []).map((refusal: Refusal) => ({
        address: refusal.recipient ?? '',
        message: oneLine(refusal.message).slice(0, maxWords),
      })),
      response: oneLine(response).slice(0, maxWords),
    }
  },
})

/** Maximum characters kept of a server's response. */
const maxWords = 500
