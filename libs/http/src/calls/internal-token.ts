import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
} from 'node:crypto'
import { ApiError, Principal } from '@opsplane/contracts'
import { decodeProtectedHeader, type JWTPayload, type JWTVerifyOptions, jwtVerify, SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { UsedIds } from './used-ids.js'

export const algorithm = 'EdDSA'
/**
 * Kind of token, as its `typ`: a call of the service that signed it, of a client through the gateway,
 * or of a service by a grant in a person's name.
 */
export const tokenTypes = {
  service: 'service+jwt',
  client: 'client+jwt',
  delegate: 'delegate+jwt',
} as const
const lifetimeSeconds = 60
const reuseMs = 30_000
/** Lifetime of a token for one call. */
const callSeconds = 15
const readOnly = new Set(['GET', 'HEAD'])
/** The only service that may speak for clients and state where their requests come from. */
const clientIssuer = 'gateway'
/** The only service that may decide who acts for an absent person. */
export const delegationIssuer = 'settings'

/** The request a token is for: its method and its path including the query. */
interface InternalCall {
  method: string
  path: string
}

export interface InternalIssuer {
  /** A token for a client's request, with a principal or anonymous. Reused for up to 30 s; only the gateway issues it. */
  clientToken(audience: string, principal?: Principal): Promise<string>
  /** A token of the service itself: for one call that changes something or, reused for up to 30 s, for any reads. */
  serviceToken(audience: string, call?: InternalCall): Promise<string>
}

export type VerifiedToken =
  /** `callId`: set for tokens for one call, and unique. */
  | { kind: 'service'; issuer: string; callId?: string }
  /** Without a principal, the request is anonymous. */
  | { kind: 'client'; issuer: string; principal: Principal | undefined }
  /** The service `by` acts for the person in a run. */
  | {
      kind: 'delegate'
      issuer: string
      principal: Principal
      by: string
      run: string
      succeeds?: true | undefined
    }

export interface InternalVerifier {
  /**
   * Throws ApiError `invalid_token` or `token_expired`. A service's token only permits reads, unless it was issued for
   * exactly this call and has not been used before.
   */
  verify(token: string, call: InternalCall): Promise<VerifiedToken>
}

/** A new Ed25519 key pair: PKCS#8 and SPKI DER in base64, the formats of SERVICE_PRIVATE_KEY and TRUSTED_SERVICE_KEYS. */
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
  const key = parsePrivateKey(privateKey)
  const issued = new LRUCache<string, { token: Promise<string>; reuseUntil: number }>({ max: 5000 })
  // The gateway passes the same principal object while it trusts a client's token, so its text is cached.
  const texts = new WeakMap<Principal, string>()
  const textOf = (principal: Principal) => {
    const text = texts.get(principal) ?? JSON.stringify(principal)
    texts.set(principal, text)
    return text
  }

  const sign = (kind: 'service' | 'client', audience: string, claims: JWTPayload, seconds: number) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: algorithm, typ: tokenTypes[kind], kid: service })
      .setIssuer(service)
      .setAudience(audience)
      .setIssuedAt()
      .setExpirationTime(`${seconds}s`)
      .sign(key)

  const reused = (cacheKey: string, make: () => Promise<string>) => {
    const known = issued.get(cacheKey)
    if (known && known.reuseUntil > Date.now()) return known.token
    const token = make()
    issued.set(cacheKey, { token, reuseUntil: Date.now() + reuseMs })
    token.catch(() => issued.delete(cacheKey))
    return token
  }

  return {
    clientToken: (audience, principal) =>
      reused(`client\0${audience}\0${principal ? textOf(principal) : ''}`, () =>
        sign('client', audience, principal ? { principal } : {}, lifetimeSeconds),
      ),
    serviceToken: (audience, call) =>
      call
        ? sign('service', audience, { call, jti: randomUUID() }, callSeconds)
        : reused(`service\0${audience}`, () => sign('service', audience, {}, lifetimeSeconds)),
  }
}

type CheckedToken = VerifiedToken & { expiresAtMs: number; isForOneCall: boolean }

/** Claims of a delegated token: who acts for whom, in which run. */
export const DelegateClaims = z.object({
  principal: Principal,
  by: z.string(),
  run: z.string(),
  /** Standing grants only: the id by which the grant is revoked. */
  grantId: z.string().optional(),
  /**
   * Set if settings made the person the successor of another: requests by the grant are
   * valid for as long as the person's rights.
   */
  succeeds: z.literal(true).optional(),
})
export type DelegateClaims = z.infer<typeof DelegateClaims>
const BoundClaims = z.object({ jti: z.string(), call: z.object({ method: z.string(), path: z.string() }) })

/**
 * `trustedKeys`: service name to Ed25519 public key, SPKI DER in base64; previous keys
 * follow after commas and remain valid.
 */
export function createInternalVerifier({
  service,
  trustedKeys,
}: {
  service: string
  trustedKeys: Record<string, string>
}): InternalVerifier {
  const keys = new Map(
    Object.entries(trustedKeys).map(([name, list]) => [name, list.split(',').map(parsePublicKey)]),
  )
  const reusable = new LRUCache<string, CheckedToken>({ max: 5000 })
  const used = new UsedIds(callSeconds * 1_000)

  const check = async (token: string, call: InternalCall): Promise<CheckedToken> => {
    const { payload, protectedHeader } = await verifyWith(
      keys.get(decodeProtectedHeader(token).kid ?? '') ?? [],
      token,
      { audience: service, algorithms: [algorithm], requiredClaims: ['exp', 'iss'] },
    )
    const { iss: issuer = '', exp = 0 } = payload
    if (issuer !== protectedHeader.kid) throw new Error('the issuer is not the owner of the key')
    const expiresAtMs = exp * 1000
    if (protectedHeader.typ === tokenTypes.client) {
      if (issuer !== clientIssuer) throw new Error(`${issuer} may not speak for clients`)
      const principal = payload.principal === undefined ? undefined : Principal.parse(payload.principal)
      return { kind: 'client', issuer, principal, expiresAtMs, isForOneCall: false }
    }
    if (protectedHeader.typ === tokenTypes.delegate) {
      if (issuer !== delegationIssuer) throw new Error(`${issuer} may not delegate`)
      return { kind: 'delegate', issuer, ...DelegateClaims.parse(payload), expiresAtMs, isForOneCall: false }
    }
    if (protectedHeader.typ !== tokenTypes.service) throw new Error('the token is of another type')
    const bound = payload.call === undefined ? undefined : BoundClaims.parse(payload)
    if (!bound) return { kind: 'service', issuer, expiresAtMs, isForOneCall: false }
    refuseOtherCall(bound, call)
    return { kind: 'service', issuer, callId: bound.jti, expiresAtMs, isForOneCall: true }
  }

  const refuseOtherCall = (
    { jti, call: { method, path } }: z.infer<typeof BoundClaims>,
    call: InternalCall,
  ) => {
    if (method !== call.method || path !== call.path) throw new Error('the token is for another call')
    if (!used.add(jti)) throw new Error('the token was used before')
  }

  return {
    async verify(token, call) {
      try {
        const known = reusable.get(token)
        const isKnown = known !== undefined && known.expiresAtMs > Date.now()
        const checked = isKnown ? known : await check(token, call)
        if (!checked.isForOneCall) reusable.set(token, checked)
        if (checked.kind === 'service' && !checked.isForOneCall && !readOnly.has(call.method))
          throw new Error('the token only reads')
        return checked
      } catch (error) {
        throw refusal(error)
      }
    },
  }
}

/** There is one key, except while a service's key is being rotated. */
async function verifyWith([key, ...earlier]: KeyObject[], token: string, options: JWTVerifyOptions) {
  if (!key) throw new Error('the issuer is unknown')
  try {
    return await jwtVerify(token, key, options)
  } catch (error) {
    if (earlier.length === 0) throw error
    return verifyWith(earlier, token, options)
  }
}

function refusal(cause: unknown): ApiError {
  const expired = cause instanceof Error && 'code' in cause && cause.code === 'ERR_JWT_EXPIRED'
  return expired
    ? new ApiError('token_expired', 'The token has expired.', { cause })
    : new ApiError('invalid_token', 'The token is not valid.', { cause })
}

/** `key`: Ed25519, PKCS#8 DER in base64. */
export function parsePrivateKey(key: string): KeyObject {
  return createPrivateKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'pkcs8' })
}

/** `key`: Ed25519, SPKI DER in base64. */
export function parsePublicKey(key: string): KeyObject {
  return createPublicKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'spki' })
}
