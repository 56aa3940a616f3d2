import { undici } from '../calls/undici.js'

export type OutboundErrorKind =
  | 'blocked_address'
  | 'dns'
  | 'connect'
  | 'tls'
  | 'timeout'
  | 'reset'
  | 'protocol'

/** Why an outbound call got no response. The message is safe for the tenant: it names no internal address. */
export class OutboundError extends Error {
  constructor(
    readonly kind: OutboundErrorKind,
    message: string,
    options: { cause?: unknown } = {},
  ) {
    super(message, options)
    this.name = 'OutboundError'
  }
}

const messages: Record<OutboundErrorKind, string> = {
  blocked_address: 'The host has an address that must not be called.',
  dns: 'The host name could not be resolved.',
  connect: 'The connection could not be opened.',
  tls: 'The TLS connection could not be established.',
  timeout: 'No complete answer within the time limit.',
  reset: 'The connection was closed before the answer was complete.',
  protocol: 'The answer is not valid HTTP.',
}

/** Codes with a more precise explanation than their kind. */
const explanations: Record<string, string> = {
  CERT_HAS_EXPIRED: 'The certificate of the host has expired.',
  CERT_NOT_YET_VALID: 'The certificate of the host is not valid yet.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is for another host.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate of the host is self-signed, so it is not trusted.',
  SELF_SIGNED_CERT_IN_CHAIN: 'The certificate of the host is by an authority that is not trusted.',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'The certificate of the host is by an authority that is not trusted.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'The certificate of the host is not trusted: the certificates that lead to its authority are missing.',
  ETIMEOUT: 'The host name could not be resolved in time.',
  UND_ERR_HEADERS_OVERFLOW: 'The headers of the answer are too long.',
}

export function outboundError(kind: OutboundErrorKind, cause?: unknown): OutboundError {
  const code = findErrorCode(cause)
  const message = code ? `${explanations[code] ?? messages[kind]} (${code})` : messages[kind]
  return new OutboundError(kind, message, { cause })
}

/** Returns the response even if its body was read only in part. Throws OutboundError if the body does not decompress. */
export function describeOutboundError<Answer extends { headers: Record<string, string>; isBroken?: true }>(
  answer: Answer,
): Answer {
  if (!answer.isBroken) return answer
  const encoding = answer.headers['content-encoding'] ?? ''
  throw new OutboundError(
    'protocol',
    `The body of the answer does not decompress: it is not ${encoding}, as its Content-Encoding says.`,
  )
}

/** Classifies any failure of DNS, sockets, TLS or undici; an OutboundError keeps its kind. */
export function toOutboundError(error: unknown): OutboundError {
  if (error instanceof OutboundError) return error
  return outboundError(isBadAnswer(error) ? 'protocol' : kindOf(findErrorCode(error)), error)
}

const kinds: Record<string, OutboundErrorKind> = {
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  EAI_FAIL: 'dns',
  ENODATA: 'dns',
  ECONNREFUSED: 'connect',
  EHOSTUNREACH: 'connect',
  ENETUNREACH: 'connect',
  EADDRNOTAVAIL: 'connect',
  EACCES: 'connect',
  EMFILE: 'connect',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  EPROTO: 'tls',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls',
  HOSTNAME_MISMATCH: 'tls',
}

const prefixes: [string, OutboundErrorKind][] = [
  ['ERR_TLS', 'tls'],
  ['ERR_SSL', 'tls'],
  ['CERT_', 'tls'],
  ['CRL_', 'tls'],
  ['UNABLE_TO_', 'tls'],
  ['INVALID_CA', 'tls'],
]

/** On an unexpected 101, undici closes the socket itself, with the code of a closed socket. */
function isBadAnswer(error: unknown): boolean {
  return error instanceof undici().errors.SocketError && /^bad (response|upgrade)$/.test(error.message)
}

function kindOf(code: string | undefined): OutboundErrorKind {
  if (code === undefined) return 'protocol'
  return kinds[code] ?? prefixes.find(([prefix]) => code.startsWith(prefix))?.[1] ?? 'protocol'
}

export function findErrorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  // Several addresses were tried and all failed: the first failure represents them.
  if ('errors' in error && Array.isArray(error.errors) && error.errors.length > 0)
    return findErrorCode(error.errors[0])
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
