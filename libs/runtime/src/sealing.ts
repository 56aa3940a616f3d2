import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { sha256Hex } from './hash.js'

/**
 * Envelope encryption with AES-256-GCM: values are sealed with a data key, data keys are wrapped by the
 * master key. Sealed text is `v1.<iv>.<tag>.<ciphertext>`; a wrapped key is `k1.<master key id>.<iv>.<tag>.<ciphertext>`.
 */
export interface Sealer {
  /** Names the master key, without revealing it. */
  keyId: string
  /** A fresh data key, wrapped by the master key. */
  newDataKey(): string
  /** `aad` binds the value to its place: opening it with another aad fails. */
  seal(wrappedDataKey: string, plaintext: string, aad: string): string
  open(wrappedDataKey: string, sealed: string, aad: string): string
}

const algorithm = 'aes-256-gcm'

/** `masterKey`: 32 bytes in base64. */
export function createSealer(masterKey: string): Sealer {
  const master = Buffer.from(masterKey, 'base64')
  if (master.length !== 32) throw new Error('OPSPLANE_MASTER_KEY must be 32 bytes in base64')
  const keyId = sha256Hex(master).slice(0, 8)

  const unwrap = (wrapped: string): Buffer => {
    const [version, id, ...parts] = wrapped.split('.')
    if (version !== 'k1') throw new Error('not a wrapped data key')
    if (id !== keyId)
      throw new Error(`the data key is wrapped by master key ${id}, this process has ${keyId}`)
    return decrypt(master, parts, 'data-key')
  }

  return {
    keyId,
    newDataKey: () => ['k1', keyId, ...encrypt(master, randomBytes(32), 'data-key')].join('.'),
    seal: (wrapped, plaintext, aad) =>
      ['v1', ...encrypt(unwrap(wrapped), Buffer.from(plaintext), aad)].join('.'),
    open: (wrapped, sealed, aad) => {
      const [version, ...parts] = sealed.split('.')
      if (version !== 'v1') throw new Error('not a sealed value')
      return decrypt(unwrap(wrapped), parts, aad).toString()
    },
  }
}

function encrypt(key: Buffer, plaintext: Buffer, aad: string): string[] {
  const iv = randomBytes(12)
  const cipher = createCipheriv(algorithm, key, iv).setAAD(Buffer.from(aad))
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()])
  return [iv, cipher.getAuthTag(), ciphertext].map((bytes) => bytes.toString('base64url'))
}

function decrypt(key: Buffer, parts: string[], aad: string): Buffer {
  const [iv, tag, ciphertext] = parts.map((part) => Buffer.from(part, 'base64url'))
  if (!iv || !tag || !ciphertext) throw new Error('sealed text is cut short')
  const decipher = createDecipheriv(algorithm, key, iv).setAAD(Buffer.from(aad)).setAuthTag(tag)
  return Buffer.concat([decipher.update(ciphertext), decipher.final()])
}
