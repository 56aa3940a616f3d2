import { hmacSha256 } from '@opsplane/runtime'

export interface SignedContent {
  /** The event's id. It is the same for every attempt, so that a receiver recognises repeated messages. */
  messageId: string
  /** Unix time of the attempt, in seconds. */
  timestamp: number
  /** Exactly the bytes sent. */
  body: string
}

/**
 * The signature headers of one request. `secrets` are the currently valid ones, newest first: each produces a Standard
 * Webhooks signature. X-Service-Signature-256 has only one signature, by the oldest secret, so that receivers that
 * support only that header can use their secret until its overlap ends. Without secrets nothing is signed.
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

/** Standard Webhooks secrets are base64 with a prefix; any other secret is used as the key directly. */
function standardKey(secret: string): Buffer {
  return secret.startsWith(standardPrefix)
    ? Buffer.from(secret.slice(standardPrefix.length), 'base64')
    : Buffer.from(secret)
}
