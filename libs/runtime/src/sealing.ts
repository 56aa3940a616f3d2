import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { sha256Hex } from './hash.js'

/** A data key wrapped by a master key: `k1.<master key id>.<iv>.<tag>.<ciphertext>`. */
export interface DataKey {
  /** The owner and generation of the key: it cannot be unwrapped under another id. */
  id: string
  wrapped: string
}

/** A data key for sealing. */
export interface WrappedDataKey extends DataKey {
  generation: number
}

/**
 * Envelope encryption with AES-256-GCM: values are sealed with a data key, data keys are wrapped by the master
 * key. Sealed text names the generation of its data key: `v1.<iv>.<tag>.<ciphertext>` for the first one,
 * `v2.<generation>.<iv>.<tag>.<ciphertext>` for any later one.
 */
export interface Sealer {
  /** Identifies the current master key without revealing it. */
  keyId: string
  /** Ids of all available master keys, the current one first. */
  keyIds: readonly string[]
  /** A new data key, wrapped by the current master key. */
  newDataKey(id: string): string
  /** Whether one of the available master keys unwraps this data key. */
  unwraps(key: DataKey): boolean
  /** The same data key, wrapped by the current master key. */
  rewrap(key: DataKey): string
  /** `aad` binds the value to its context: opening it with another aad fails. */
  seal(key: WrappedDataKey, plaintext: string, aad: string): string
  /** `key` must be the data key of generation `parseKeyGeneration(sealed)`. */
  open(key: DataKey, sealed: string, aad: string): string
}

const algorithm = 'aes-256-gcm'
const authTagLength = 16

/** Whether the text is 32 bytes in base64. */
export function isMasterKey(text: string): boolean {
  return Buffer.from(text, 'base64').length === 32
}

/** The id by which wrapped data keys refer to a master key: the first bytes of its hash. */
export function masterKeyId(masterKey: string): string {
  return sha256Hex(masterKeyBytes(masterKey)).slice(0, 8)
}

/** The id of the master key that wraps a data key. */
export function wrappingKeyId(wrapped: string): string {
  const [version, id] = wrapped.split('.')
  if (version !== 'k1' || !id) throw new Error('not a wrapped data key')
  return id
}

/** The generation of the data key a value is sealed with. */
export function parseKeyGeneration(sealed: string): number {
  const [version, generation] = sealed.split('.')
  if (version === 'v1') return 1
  if (version === 'v2' && /^[1-9]\d{0,8}$/.test(generation ?? '')) return Number(generation)
  throw new Error('not a sealed value')
}

/** Keys are 32 bytes in base64. The current one wraps; previous ones only unwrap, while a new one is introduced. */
export function createSealer(masterKey: string, previous: readonly string[] = []): Sealer {
  const keys = new Map<string, Buffer>()
  for (const key of [masterKey, ...previous]) keys.set(masterKeyId(key), masterKeyBytes(key))
  const present = masterKeyBytes(masterKey)
  const keyId = masterKeyId(masterKey)

  const unwrap = ({ id, wrapped }: DataKey): Buffer => {
    const wrappingId = wrappingKeyId(wrapped)
    const key = keys.get(wrappingId)
    if (!key)
      throw new Error(
        `the data key is wrapped by master key ${wrappingId}, this process has ${[...keys.keys()].join(', ')}`,
      )
    return decrypt(key, wrapped.split('.').slice(2), placeOf(id))
  }
  const wrap = (id: string, dataKey: Buffer) =>
    ['k1', keyId, ...encrypt(present, dataKey, placeOf(id))].join('.')

  return {
    keyId,
    keyIds: [...keys.keys()],
    newDataKey: (id) => wrap(id, randomBytes(32)),
    rewrap: (key) => wrap(key.id, unwrap(key)),
    unwraps(key) {
      try {
        return unwrap(key).length === 32
      } catch {
        return false
      }
    },
    seal({ generation, ...key }, plaintext, aad) {
      // The first generation's format predates generations, so that replicas of that time can still open it.
      const head = generation === 1 ? ['v1'] : ['v2', String(generation)]
      return [...head, ...encrypt(unwrap(key), Buffer.from(plaintext), aad)].join('.')
    },
    open(key, sealed, aad) {
      parseKeyGeneration(sealed)
      return decrypt(unwrap(key), sealed.split('.').slice(-3), aad).toString()
    },
  }
}

/** The context a data key is bound to. */
const placeOf = (id: string) => `data-key|${id}`

function masterKeyBytes(text: string): Buffer {
  if (!isMasterKey(text)) throw new Error('a master key must be 32 bytes in base64')
  return Buffer.from(text, 'base64')
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
  const decipher = createDecipheriv(algorithm, key, iv, { authTagLength })
    .setAAD(Buffer.from(aad))
    .setAuthTag(tag)
  return Buffer.concat([decipher.update(ciphertext), decipher.final()])
}
