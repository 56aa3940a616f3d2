import { hash } from 'node:crypto'
import { eventHeaders } from '@opsplane/contracts'
import {
  constantTimeEqual,
  derivePublicKey,
  hmacSha256Under,
  pairKey,
  sha256Bytes,
  sha256Hex,
} from '@opsplane/runtime'
import { SignatureError } from './errors.js'

/**
 * The parts a signature covers in addition to the body: they cannot be changed, and the body cannot move to
 * another subject.
 */
export interface SignedMessage {
  subject: string
  header(name: string): string | undefined
}

export interface EventSignatures {
  /**
   * The header by which each verifier authenticates this service. The key shared with one verifier is not valid for
   * another.
   */
  sign(message: SignedMessage, body: string): string
  /** Throws SignatureError unless the service named as the message's source has signed it for this service. */
  check(message: SignedMessage, body: string): void
}

export interface EventSignaturesOptions {
  /** The name of this service in the registry. */
  service: string
  /** Ed25519, PKCS#8 DER in base64. */
  privateKey: string
  /** Former keys of this service: messages signed for them are still valid. */
  previousPrivateKeys?: readonly string[]
  /** Public keys by service name, SPKI DER in base64: the current key and former ones, separated by commas. */
  trustedKeys: Readonly<Record<string, string>>
  /** The services it signs for. */
  verifiers: readonly string[]
}

const macBytes = 16
const signedHeaders = [
  eventHeaders.source,
  eventHeaders.position,
  eventHeaders.lowWatermark,
  eventHeaders.messageId,
] as const

/**
 * Computes one SHA-256 over the message and, for each verifier, an HMAC of that hash under a key that only the two
 * services can derive from their existing keys (ADR 049). The header is `<id of the signer's key> <id of a
 * verifier's key>=<mac> …`.
 */
export function createEventSignatures(options: EventSignaturesOptions): EventSignatures {
  const { service, trustedKeys, verifiers } = options
  const keysOf = (name: string) => (trustedKeys[name] ?? '').split(',').filter((key) => key !== '')
  const own = [options.privateKey, ...(options.previousPrivateKeys ?? [])].map((privateKey) => ({
    privateKey,
    id: keyId(derivePublicKey(privateKey)),
  }))
  const signer = own[0]?.id ?? ''
  const sources = new Map(
    Object.keys(trustedKeys).flatMap((name) =>
      keysOf(name).map((key) => [keyId(key), { source: name.replaceAll('-', '_'), key }] as const),
    ),
  )
  let targets: { id: string; macOf: Mac }[] | undefined
  /** Deriving a key takes milliseconds, so it is derived on first use. */
  const signingKeys = () =>
    (targets ??= verifiers.flatMap((name) => {
      const [otherPublicKey] = name === service ? [derivePublicKey(options.privateKey)] : keysOf(name)
      if (otherPublicKey === undefined) return []
      const id = keyId(otherPublicKey)
      const key = pairKey({ ownPrivateKey: options.privateKey, otherPublicKey }, purpose(signer, id))
      return [{ id, macOf: macUnder(key) }]
    }))
  const checkingKeys = new Map<string, Mac>()
  const checkingKey = (from: string, otherPublicKey: string, { id, privateKey }: (typeof own)[number]) => {
    const known = checkingKeys.get(from + id)
    if (known) return known
    const macOf = macUnder(pairKey({ ownPrivateKey: privateKey, otherPublicKey }, purpose(from, id)))
    checkingKeys.set(from + id, macOf)
    return macOf
  }

  return {
    sign(message, body) {
      const digest = digestOf(message, body)
      return [signer, ...signingKeys().map(({ id, macOf }) => `${id}=${macOf(digest)}`)].join(' ')
    },
    check(message, body) {
      const [from = '', ...macs] = (message.header(eventHeaders.signature) ?? '').split(' ')
      if (from === '') throw new SignatureError('it is not signed')
      const signedBy = sources.get(from)
      if (!signedBy) throw new SignatureError('its key is unknown')
      if (signedBy.source !== message.header(eventHeaders.source))
        throw new SignatureError(`${signedBy.source} has signed it, which is not its source`)
      const digest = digestOf(message, body)
      for (const key of own) {
        const mac = macs.find((each) => each.startsWith(`${key.id}=`))?.slice(key.id.length + 1)
        if (mac === undefined) continue
        if (constantTimeEqual(mac, checkingKey(from, signedBy.key, key)(digest))) return
        throw new SignatureError('the signature is wrong')
      }
      throw new SignatureError('it is not signed for this service')
    },
  }
}

/** Identifies a public key in headers. */
const keyId = (publicKey: string) => sha256Hex(publicKey).slice(0, 12)
const purpose = (from: string, to: string) => `opsplane event ${from}>${to}`

/** The MAC of a digest, in base64url. */
type Mac = (digest: string) => string

function macUnder(key: Buffer): Mac {
  const hmac = hmacSha256Under(key, sha256Bytes)
  return (digest) => Buffer.from(hmac(digest).slice(0, macBytes), 'binary').toString('base64url')
}

/** As a binary string. Headers and subjects contain no line breaks, so different messages always differ here. */
function digestOf(message: SignedMessage, body: string): string {
  let head = message.subject
  for (const name of signedHeaders) head += `\n${message.header(name) ?? ''}`
  return hash('sha256', `${head}\n\n${body}`, 'binary')
}
