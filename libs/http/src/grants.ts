import { createPrivateKey, createPublicKey } from 'node:crypto'
import { ApiError } from '@opsplane/contracts'
import { jwtVerify, SignJWT } from 'jose'
import { algorithm, DelegateClaims, delegationIssuer, tokenTypes } from './internal-token.js'

const grantType = 'grant+jwt'
const tokenSeconds = 15

/** Makes grants and reads them again; settings alone has them, with its own key. */
export interface Grants {
  seal(claims: DelegateClaims, seconds: number): Promise<string>
  /** Throws `token_expired`, or `invalid_token` for what was not sealed with the key. */
  open(grant: string): Promise<DelegateClaims>
  /** For calls to one service within 15 s. */
  tokenFor(claims: DelegateClaims, audience: string): Promise<string>
}

/** `privateKey`: Ed25519, PKCS#8 DER in base64. */
export function createGrants(privateKey: string): Grants {
  const key = createPrivateKey({ key: Buffer.from(privateKey, 'base64'), format: 'der', type: 'pkcs8' })
  const sign = (typ: string, audience: string, claims: DelegateClaims, seconds: number) =>
    new SignJWT({ ...claims })
      .setProtectedHeader({ alg: algorithm, typ, kid: delegationIssuer })
      .setIssuer(delegationIssuer)
      .setAudience(audience)
      .setIssuedAt()
      .setExpirationTime(`${seconds}s`)
      .sign(key)
  return {
    seal: (claims, seconds) => sign(grantType, delegationIssuer, claims, seconds),
    tokenFor: (claims, audience) => sign(tokenTypes.delegate, audience, claims, tokenSeconds),
    async open(grant) {
      try {
        const options = { audience: delegationIssuer, algorithms: [algorithm], typ: grantType }
        return DelegateClaims.parse((await jwtVerify(grant, createPublicKey(key), options)).payload)
      } catch (cause) {
        const expired = cause instanceof Error && 'code' in cause && cause.code === 'ERR_JWT_EXPIRED'
        throw expired
          ? new ApiError('token_expired', 'The grant has expired.', { cause })
          : new ApiError('invalid_token', 'The grant is not valid.', { cause })
      }
    },
  }
}
