import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { ApiError, Principal } from '@opsplane/contracts'
import { jwtVerify, SignJWT } from 'jose'
import { RecentMap } from './recent-map.js'

const algorithm = 'EdDSA'
const tokenType = 'internal+jwt'
const lifetimeSeconds = 60
const reuseMs = 30_000
/** The only service that speaks for users, and says where their requests come from. */
export const userIssuer = 'gateway'

export interface InternalIssuer {
  /** A token for one service, in the name of a user or of this service itself; reused for up to 30 s. */
  tokenFor(audience: string, principal?: Principal): Promise<string>
}

export interface VerifiedToken {
  issuer: string
  principal?: Principal
}

export interface InternalVerifier {
  /** Throws ApiError `invalid_token` or `token_expired`. */
  verify(token: string): Promise<VerifiedToken>
}

/** A fresh Ed25519 pair: PKCS#8 and SPKI DER in base64, as SERVICE_PRIVATE_KEY and TRUSTED_SERVICE_KEYS take them. */
export function generateServiceKeys(): { privateKey: string; publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return {
    privateKey: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
    publicKey: publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
  }
}

/** `privateKey`: Ed25519, PKCS#8 DER in base64. */
export function createInternalIssuer({
  service,
  privateKey,
}: {
  service: string
  privateKey: string
}): InternalIssuer {
  const key = createPrivateKey({ key: Buffer.from(privateKey, 'base64'), format: 'der', type: 'pkcs8' })
  const issued = new RecentMap<{ token: Promise<string>; reuseUntil: number }>(5000)
  // The gateway asks with the same principal for as long as it trusts a client's token.
  const texts = new WeakMap<Principal, string>()
  const textOf = (principal: Principal) => {
    const text = texts.get(principal) ?? JSON.stringify(principal)
    texts.set(principal, text)
    return text
  }

  const sign = (audience: string, principal: Principal | undefined) =>
    new SignJWT(principal ? { principal } : {})
      .setProtectedHeader({ alg: algorithm, typ: tokenType, kid: service })
      .setIssuer(service)
      .setAudience(audience)
      .setIssuedAt()
      .setExpirationTime(`${lifetimeSeconds}s`)
      .sign(key)

  return {
    tokenFor(audience, principal) {
      const cacheKey = principal ? `${audience}\0${textOf(principal)}` : audience
      const known = issued.get(cacheKey)
      if (known && known.reuseUntil > Date.now()) return known.token
      const token = sign(audience, principal)
      issued.set(cacheKey, { token, reuseUntil: Date.now() + reuseMs })
      token.catch(() => issued.delete(cacheKey))
      return token
    },
  }
}

/** `trustedKeys`: service name to Ed25519 public key, SPKI DER in base64. */
export function createInternalVerifier({
  service,
  trustedKeys,
}: {
  service: string
  trustedKeys: Record<string, string>
}): InternalVerifier {
  const keys = new Map(Object.entries(trustedKeys).map(([name, key]) => [name, publicKeyOf(key)]))
  const verified = new RecentMap<VerifiedToken & { expiresAtMs: number }>(5000)

  const check = async (token: string) => {
    const { payload, protectedHeader } = await jwtVerify(
      token,
      ({ kid }) => keys.get(kid ?? '') ?? Promise.reject(new Error(`unknown issuer ${kid}`)),
      { audience: service, algorithms: [algorithm], typ: tokenType, requiredClaims: ['exp', 'iss'] },
    )
    const { iss: issuer = '', exp = 0 } = payload
    if (issuer !== protectedHeader.kid) throw new Error('the issuer is not the owner of the key')
    const expiresAtMs = exp * 1000
    if (payload.principal === undefined) return { issuer, expiresAtMs }
    if (issuer !== userIssuer) throw new Error(`${issuer} may not speak for users`)
    return { issuer, expiresAtMs, principal: Principal.parse(payload.principal) }
  }

  return {
    async verify(token) {
      const known = verified.get(token)
      if (known && known.expiresAtMs > Date.now()) return known
      try {
        const result = await check(token)
        verified.set(token, result)
        return result
      } catch (error) {
        throw refusal(error)
      }
    },
  }
}

function refusal(cause: unknown): ApiError {
  const expired = cause instanceof Error && 'code' in cause && cause.code === 'ERR_JWT_EXPIRED'
  return expired
    ? new ApiError('token_expired', 'The token has expired.', { cause })
    : new ApiError('invalid_token', 'The token is not valid.', { cause })
}

function publicKeyOf(key: string): KeyObject {
  return createPublicKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'spki' })
}
