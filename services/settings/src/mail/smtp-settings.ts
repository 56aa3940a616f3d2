import { parseMailbox } from '@opsplane/contracts'

/** The mail server in `SMTP_URL`. */
export interface SmtpServer {
  host: string
  port: number
  /** TLS from the first byte; otherwise STARTTLS if the server offers it. */
  secure: boolean
  /** Abort the connection unless it uses TLS. */
  requireTLS: boolean
  auth?: { user: string; pass: string }
}

const defaultPorts: Readonly<Record<string, number>> = { 'smtp:': 587, 'smtps:': 465 }
const loopback = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/

/** `null` if the URL is invalid or contains parts that would be ignored, such as a query. */
export function readSmtpUrl(text: string): SmtpServer | null {
  if (!URL.canParse(text)) return null
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(text)
  const defaultPort = defaultPorts[protocol]
  if (defaultPort === undefined || hostname === '' || !['', '/'].includes(pathname + search + hash))
    return null
  const [user, pass] = [decoded(username), decoded(password)]
  if (user === null || pass === null) return null
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const withLogin = user !== ''
  return {
    host,
    port: port === '' ? defaultPort : Number(port),
    secure: protocol === 'smtps:',
    // A password is never sent unencrypted, even if a man in the middle strips STARTTLS from the server's greeting.
    requireTLS: withLogin && !loopback.test(host),
    ...(withLogin && { auth: { user, pass } }),
  }
}

export const isSmtpUrl = (text: string) => readSmtpUrl(text) !== null
export const isSender = (text: string) => parseMailbox(text) !== null

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
