import { timingSafeEqual } from 'node:crypto'
import type { WorkflowTrigger } from '@opsplane/contracts'
import { hmacSha256 } from '@opsplane/runtime'

type Signature = NonNullable<Extract<WorkflowTrigger, { type: 'webhook' }>['signature']>

/** Whether a header contains the HMAC-SHA256 of the raw body, in hex after the prefix. */
export function isSignedBy(
  secret: string,
  body: Buffer,
  { prefix }: Pick<Signature, 'prefix'>,
  signature: string | undefined,
): boolean {
  if (signature === undefined || !signature.startsWith(prefix)) return false
  const expected = Buffer.from(hmacSha256(secret, body).toString('hex'))
  const actual = Buffer.from(signature.slice(prefix.length).trim().toLowerCase())
  return actual.length === expected.length && timingSafeEqual(actual, expected)
}
