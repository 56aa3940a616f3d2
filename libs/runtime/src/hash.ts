import { createHmac, hash, timingSafeEqual } from 'node:crypto'

/** Length of a SHA-256 digest. */
export const sha256Bytes = 32

export function sha256Hex(text: string | Buffer): string {
  return hash('sha256', text, 'hex')
}

export function hmacSha256(key: string | Buffer, bytes: string | Buffer): Buffer {
  return createHmac('sha256', key).update(bytes).digest()
}

const blockBytes = 64
const innerPad = 0x36
const outerPad = 0x5c

/**
 * `hmacSha256` under one key for many short messages: returns a function from message to MAC, both as binary
 * strings (one character per byte). It allocates nothing outside the JavaScript heap; such an object takes three
 * times as long to create and collect as hashing two blocks. The key has at most 64 bytes, and all messages have
 * the same length.
 */
export function hmacSha256Under(key: Buffer, messageBytes: number): (bytes: string) => string {
  if (key.length > blockBytes) throw new RangeError('the key is longer than a block')
  const inner = Buffer.alloc(blockBytes + messageBytes, innerPad)
  const outer = Buffer.alloc(blockBytes + sha256Bytes, outerPad)
  for (const [place, byte] of key.entries()) {
    inner[place] = byte ^ innerPad
    outer[place] = byte ^ outerPad
  }
  return (bytes) => {
    if (bytes.length !== messageBytes) throw new RangeError(`the message has not ${messageBytes} bytes`)
    inner.write(bytes, blockBytes, 'binary')
    outer.write(hash('sha256', inner, 'binary'), blockBytes, 'binary')
    return hash('sha256', outer, 'binary')
  }
}

/** Compares in a time that depends only on the lengths. */
export function constantTimeEqual(a: string | Buffer, b: string | Buffer): boolean {
  const left = Buffer.from(a)
  const right = Buffer.from(b)
  return left.length === right.length && timingSafeEqual(left, right)
}
