import { createPublicKey } from 'node:crypto'
import { ApiError } from '@opsplane/contracts'
import { jwtVerify, SignJWT } from 'jose'
import { algorithm, DelegateClaims, delegationIssuer, parsePrivateKey, tokenTypes } from './internal-token.js'

const grantType = 'grant+jwt'
const tokenSeconds = 15

/** Creates and opens grants. Only settings has the key for that. */
interface Grants {
  /** `seconds`: `null` for a grant without expiry, whose validity must be checked on each use. */
  seal(claims: DelegateClaims, seconds: number | null): Promise<string>
  /** Throws `token_expired`, or `invalid_token` if the grant was not sealed with the key. */
  open(grant: string): Promise<DelegateClaims>
  /** A token for calls to one service, valid for 15 s. */
  tokenFor(claims: DelegateClaims, audience: string): Promise<string>
}

/** Keys: Ed25519, PKCS#8 DER in base64. Grants sealed with a previous key can still be opened. */
export function createGrants(privateKey: string, previousKeys: readonly string[] = []): Grants {
  const key = parsePrivateKey(privateKey)
  const openers = [key, ...previousKeys.map(parsePrivateKey)].map((each) => createPublicKey(each))
  const sign = (typ: string, audience: string, claims: DelegateClaims, seconds: number | null) => {
    const token = new SignJWT({ ...claims })
      .setProtectedHeader({ alg: algorithm, typ, kid: delegationIssuer })
      .setIssuer(delegationIssuer)
      .setAudience(audience)
      .setIssuedAt()
    return (seconds === null ? token : token.setExpirationTime(`${seconds}s`)).sign(key)
  }
  const verifyGrant = async (grant: string, at = 0): Promise<DelegateClaims> => {
    const opener = openers[at]
    if (!opener) throw new Error('no key fits')
    try {
      const options = { audience: delegationIssuer, algorithms: [algorithm], typ: grantType }
      return DelegateClaims.parse((await jwtVerify(grant, opener, options)).payload)
    } catch (error) {
      if (errorCode(error) !== 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED') throw error
      return verifyGrant(grant, at + 1)
    }
  }
  return {
    seal: (claims, seconds) => sign(grantType, delegationIssuer, claims, seconds),
    tokenFor: (claims, audience) => sign(tokenTypes.delegate, audience, claims, tokenSeconds),
    async open(grant) {
      try {
        return await verifyGrant(grant)
      } catch (cause) {
        throw errorCode(cause) === 'ERR_JWT_EXPIRED'
          ? new ApiError('token_expired', 'The grant has expired.', { cause })
          : new ApiError('invalid_token', 'The grant is not valid.', { cause })
      }
    },
  }
}

const errorCode = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : undefined)
