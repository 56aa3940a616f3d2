import { hmacSha256 } from '@opsplane/runtime'

export interface SignedContent {
  /** The event's id: the same on every attempt, so that a receiver recognises a repeated message. */
  messageId: string
  /** Unix time of the attempt, in seconds. */
  timestamp: number
  /** Exactly the bytes that are sent. */
  body: string
}

/**
 * The signature headers of one request. `secrets` are those valid now, newest first: all of them make Standard
 * Webhooks signatures. X-Service-Signature-256 is one alone, by the oldest: a receiver that knows only that header goes on with
 * the secret it has until its overlap ends. Without secrets nothing is signed.
 */
export function buildSignatureHeaders(
  secrets: readonly string[],
  { messageId, timestamp, body }: SignedContent,
): Record<string, string> {
  const oldest = secrets.at(-1)
  if (oldest === undefined) return {}
  const signed = `${messageId}.${timestamp}.${body}`
  return {
    'x-service-signature-256': `sha256=${hmacSha256(oldest, body).toString('hex')}`,
    'webhook-signature': secrets
      .map((secret) => `v1,${hmacSha256(standardKey(secret), signed).toString('base64')}`)
      .join(' '),
  }
}

const standardPrefix = 'whsec_'

/** Standard Webhooks secrets are base64 behind a prefix; any other secret is its own key. */
function standardKey(secret: string): Buffer {
  return secret.startsWith(standardPrefix)
    ? Buffer.from(secret.slice(standardPrefix.length), 'base64')
    : Buffer.from(secret)
}
