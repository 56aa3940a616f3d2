import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

export function sha256Hex(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex')
}

export function hmacSha256(key: string | Buffer, bytes: string | Buffer): Buffer {
  return createHmac('sha256', key).update(bytes).digest()
}

/** Compares in a time that depends on the lengths only. */
export function constantTimeEqual(a: string | Buffer, b: string | Buffer): boolean {
  const left = Buffer.from(a)
  const right = Buffer.from(b)
  return left.length === right.length && timingSafeEqual(left, right)
}
