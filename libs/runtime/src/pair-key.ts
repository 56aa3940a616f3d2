import { createHash, createPrivateKey, createPublicKey, diffieHellman, hkdfSync } from 'node:crypto'

/** Ed25519: the private key as PKCS#8 DER in base64, the public one as SPKI DER in base64. */
interface PairKeyParts {
  ownPrivateKey: string
  otherPublicKey: string
}

/** The public key of a private key, both as in PairKeyParts. Throws if it is not a valid key. */
export function derivePublicKey(privateKey: string): string {
  const key = createPrivateKey({ key: Buffer.from(privateKey, 'base64'), format: 'der', type: 'pkcs8' })
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('the key is no Ed25519 key')
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).toString('base64')
}

/**
 * 32 bytes that only the two owners of Ed25519 keys can compute: X25519 over the same keys, mapped as RFC 7748
 * specifies (and libsodium does), then HKDF-SHA256, in which `purpose` separates different uses.
 */
export function pairKey({ ownPrivateKey, otherPublicKey }: PairKeyParts, purpose: string): Buffer {
  const shared = diffieHellman({
    privateKey: createPrivateKey({ key: montgomeryPrivate(ownPrivateKey), format: 'der', type: 'pkcs8' }),
    publicKey: createPublicKey({ key: montgomeryPublic(otherPublicKey), format: 'der', type: 'spki' }),
  })
  return Buffer.from(hkdfSync('sha256', shared, '', purpose, 32))
}

const keyBytes = 32
const privatePrefix = Buffer.from('302e020100300506032b656e04220420', 'hex')
const publicPrefix = Buffer.from('302a300506032b656e032100', 'hex')
const p = 2n ** 255n - 19n

/** The scalar of an Ed25519 seed; its lowest and highest bits are set during the multiplication. */
function montgomeryPrivate(privateKey: string): Buffer {
  const seed = Buffer.from(privateKey, 'base64').subarray(-keyBytes)
  return Buffer.concat([privatePrefix, createHash('sha512').update(seed).digest().subarray(0, keyBytes)])
}

/** u = (1 + y) / (1 - y) of the point's y, without its sign. */
function montgomeryPublic(publicKey: string): Buffer {
  const point = Buffer.from(publicKey, 'base64').subarray(-keyBytes)
  const y = BigInt(`0x${Buffer.from(point).reverse().toString('hex')}`) & (2n ** 255n - 1n)
  const u = (((1n + y) * power(p + 1n - y, p - 2n)) % p).toString(16).padStart(keyBytes * 2, '0')
  return Buffer.concat([publicPrefix, Buffer.from(u, 'hex').reverse()])
}

/** base ** exponent mod p. */
function power(base: bigint, exponent: bigint): bigint {
  let [result, square] = [1n, base % p]
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % p
    square = (square * square) % p
  }
  return result
}
