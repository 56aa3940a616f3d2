import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { freePort } from '@opsplane/runtime/server-process'

export interface ReceivedMail {
  /** The logged-in user, and the recipients of the envelope. */
  user: string | null
  recipients: string[]
  headers: Map<string, string>
  text: string
  /** The unparsed message. */
  raw: string
  secure: boolean
}

/** A real mail server that stores received mails. */
export interface SmtpReceiver {
  url: string
  mails: ReceivedMail[]
  /** Rejects the next `count` mails with 451. */
  refuseNext(count: number): void
  stop(): Promise<void>
}

export interface SmtpReceiverOptions {
  /** TLS from the first byte (`tls`) or offered (`starttls`), with this certificate; default: no TLS. */
  security?: 'tls' | 'starttls'
  key?: string
  cert?: string
  /** Recipients rejected with 550. */
  unknown?: readonly string[]
}

/**
 * Listens on a free port, which stays reserved while it is stopped, or on the port of a
 * stopped receiver. Its only password is `p@ss`.
 */
export async function startSmtpReceiver(
  port?: number,
  { security, key, cert, unknown = [] }: SmtpReceiverOptions = {},
): Promise<SmtpReceiver> {
  // Most tests need none.
  const { SMTPServer } = await import('smtp-server')
  const mails: ReceivedMail[] = []
  let refusals = 0
  const server = new SMTPServer({
    ...(security ? { key, cert, secure: security === 'tls' } : {}),
    disabledCommands: security === 'starttls' ? [] : ['STARTTLS'],
    authOptional: true,
    allowInsecureAuth: true,
    logger: false,
    onRcptTo({ address }, _session, done) {
      if (unknown.includes(address))
        done(Object.assign(new Error('no mailbox of this name'), { responseCode: 550 }))
      else done()
    },
    onAuth({ username, password }, _session, done) {
      if (password === 'p@ss') done(null, { user: username })
      else done(new Error('wrong password'))
    },
    async onData(stream, session, done) {
      const raw = await text(stream)
      if (refusals > 0) {
        refusals--
        done(Object.assign(new Error('try again later'), { responseCode: 451 }))
        return
      }
      const recipients = session.envelope.rcptTo.map(({ address }) => address)
      const user = session.user ? String(session.user) : null
      mails.push({ user, recipients, ...parsed(raw), raw, secure: session.secure })
      done()
    },
  })
  // Some tests disconnect clients on purpose.
  server.on('error', () => undefined)
  const listening = server.listen(port ?? (await freePort()), '127.0.0.1')
  await once(listening, 'listening')
  const address = listening.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `${security === 'tls' ? 'smtps' : 'smtp'}://127.0.0.1:${address.port}`,
    mails,
    refuseNext: (count) => {
      refusals = count
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

function parsed(raw: string): Pick<ReceivedMail, 'headers' | 'text'> {
  const [head = '', ...body] = raw.split('\r\n\r\n')
  const headers = head
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
    .map((line): [string, string] => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), withoutEncodedWords(line.slice(colon + 1).trim())]
    })
  const decoded = unquoted(body.join('\r\n\r\n').replaceAll(/=\r\n/g, ''))
  return { headers: new Map(headers), text: decoded.replaceAll('\r\n', '\n') }
}

function withoutEncodedWords(value: string): string {
  return value
    .replaceAll('?= =?', '?==?')
    .replaceAll(/=\?UTF-8\?Q\?(.*?)\?=/g, (_, word: string) => unquoted(word.replaceAll('_', ' ')))
}

function unquoted(text: string): string {
  return text.replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
