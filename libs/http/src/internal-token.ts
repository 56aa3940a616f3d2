import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
} from 'node:crypto'
import { ApiError, Principal } from '@opsplane/contracts'
import { type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import { RecentMap } from './recent-map.js'
import { SingleUse } from './single-use.js'

const algorithm = 'EdDSA'
/** What a token says, as its `typ`: the service that signed it calls, or a client of the gateway does. */
const tokenTypes = { service: 'service+jwt', client: 'client+jwt' } as const
const lifetimeSeconds = 60
const reuseMs = 30_000
/** Of a token for one call. */
const callSeconds = 15
const readOnly = new Set(['GET', 'HEAD'])
/** The only service that speaks for clients, and says where their requests come from. */
const clientIssuer = 'gateway'

/** The request a token is for: its method and its path, with the query. */
export interface InternalCall {
  method: string
  path: string
}

export interface InternalIssuer {
  /** A token that speaks for a client: a person, or nobody that is known. Reused for up to 30 s; the gateway's only. */
  clientToken(audience: string, principal?: Principal): Promise<string>
  /** The service itself: for one call that changes something, or, reused for up to 30 s, for any that only reads. */
  serviceToken(audience: string, call?: InternalCall): Promise<string>
}

export type VerifiedToken =
  | { kind: 'service'; issuer: string }
  /** Without a principal: nobody is logged in. */
  | { kind: 'client'; issuer: string; principal: Principal | undefined }

export interface InternalVerifier {
  /**
   * Throws ApiError `invalid_token` or `token_expired`. A service's token opens nothing but reads, unless it is for this
   * very call and comes for the first time.
   */
  verify(token: string, call: InternalCall): Promise<VerifiedToken>
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

  const sign = (kind: keyof typeof tokenTypes, audience: string, claims: JWTPayload, seconds: number) =>
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

const BoundClaims = z.object({ jti: z.string(), call: z.object({ method: z.string(), path: z.string() }) })

/** `trustedKeys`: service name to Ed25519 public key, SPKI DER in base64. */
export function createInternalVerifier({
  service,
  trustedKeys,
}: {
  service: string
  trustedKeys: Record<string, string>
}): InternalVerifier {
  const keys = new Map(Object.entries(trustedKeys).map(([name, key]) => [name, publicKeyOf(key)]))
  const reusable = new RecentMap<CheckedToken>(5000)
  const used = new SingleUse(callSeconds * 1_000)

  const check = async (token: string, call: InternalCall): Promise<CheckedToken> => {
    const { payload, protectedHeader } = await jwtVerify(
      token,
      ({ kid }) => keys.get(kid ?? '') ?? Promise.reject(new Error(`unknown issuer ${kid}`)),
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
    if (protectedHeader.typ !== tokenTypes.service) throw new Error('the token is of another type')
    const isForOneCall = payload.call !== undefined
    if (isForOneCall) refuseOtherCall(BoundClaims.parse(payload), call)
    return { kind: 'service', issuer, expiresAtMs, isForOneCall }
  }

  const refuseOtherCall = (
    { jti, call: { method, path } }: z.infer<typeof BoundClaims>,
    call: InternalCall,
  ) => {
    if (method !== call.method || path !== call.path) throw new Error('the token is for another call')
    if (!used.take(jti)) throw new Error('the token was used before')
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

function refusal(cause: unknown): ApiError {
  const expired = cause instanceof Error && 'code' in cause && cause.code === 'ERR_JWT_EXPIRED'
  return expired
    ? new ApiError('token_expired', 'The token has expired.', { cause })
    : new ApiError('invalid_token', 'The token is not valid.', { cause })
}

function publicKeyOf(key: string): KeyObject {
  return createPublicKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'spki' })
}
