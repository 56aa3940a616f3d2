import { timingSafeEqual } from 'node:crypto'
import type { WorkflowTrigger } from '@opsplane/contracts'
import { hmacSha256 } from '@opsplane/runtime'

type Signature = NonNullable<Extract<WorkflowTrigger, { type: 'webhook' }>['signature']>

/** Whether a header contains the HMAC-SHA256 of the raw body, in hex after the prefix. */
export function isSignedBy(
  secret: string,
  body: Buffer,
  { prefix }: Pick<Signature, 'prefix'>,
  given: string | undefined,
): boolean {
  if (given === undefined || !given.startsWith(prefix)) return false
  const expected = Buffer.from(hmacSha256(secret, body).toString('hex'))
  const actual = Buffer.from(given.slice(prefix.length).trim().toLowerCase())
  return actual.length === expected.length && timingSafeEqual(actual, expected)
}
