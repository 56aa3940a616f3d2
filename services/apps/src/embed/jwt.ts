import { hkdfSync } from 'node:crypto'
import { ApiError, type EmbedTokenState } from '@opsplane/contracts'
import { sha256Hex } from '@opsplane/runtime'
import { jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'

const algorithm = 'HS256'
const type = 'embed+jwt'
const issuer = 'opsplane-apps'
/** Only the app runtime accepts this audience. */
const audience = 'opsplane-app'

const Claims = z.object({
  jti: z.string(),
  /** Slug of the workspace. */
  workspace: z.string(),
  app: z.string(),
  environment: z.string(),
})
export type EmbedClaims = z.infer<typeof Claims>

/** Signs and verifies embed tokens. */
export interface EmbedSigner {
  sign(state: EmbedTokenState, workspace: string): Promise<string>
  /** Throws `token_expired`, or `invalid_token` for a token that is not signed with one of the keys. */
  verify(token: string): Promise<EmbedClaims>
}

interface Key {
  id: string
  secret: Uint8Array
}

/** Derives a separate signing key from each service key, used for embed tokens only. */
function keyOf(privateKey: string): Key {
  const secret = new Uint8Array(
    hkdfSync('sha256', Buffer.from(privateKey, 'base64'), '', 'opsplane embed tokens', 32),
  )
  return { id: sha256Hex(Buffer.from(secret)).slice(0, 16), secret }
}

/**
 * @param privateKey - current key of the service, which signs new tokens
 * @param previousKeys - previous keys of the service; tokens signed with them stay valid until they expire
 */
export function createEmbedSigner(privateKey: string, previousKeys: readonly string[]): EmbedSigner {
  const present = keyOf(privateKey)
  const keys = new Map([present, ...previousKeys.map(keyOf)].map((key) => [key.id, key.secret]))

  return {
    sign({ id, appId, environment, origins, rowFilter, user, createdAt, expiresAt }, workspace) {
      const claims = { workspace, app: appId, environment, origins, rows: rowFilter, user }
      return new SignJWT(claims)
        .setProtectedHeader({ alg: algorithm, typ: type, kid: present.id })
        .setIssuer(issuer)
        .setAudience(audience)
        .setJti(id)
        .setIssuedAt(new Date(createdAt))
        .setExpirationTime(new Date(expiresAt))
        .sign(present.secret)
    },

    async verify(token) {
      try {
        const { payload } = await jwtVerify(
          token,
          ({ kid = '' }) => {
            const secret = keys.get(kid)
            if (!secret) throw new Error('the key is not known')
            return secret
          },
          { algorithms: [algorithm], typ: type, issuer, audience, requiredClaims: ['exp', 'jti'] },
        )
        return Claims.parse(payload)
      } catch (cause) {
        const isExpired = cause instanceof Error && 'code' in cause && cause.code === 'ERR_JWT_EXPIRED'
        throw isExpired
          ? new ApiError('token_expired', 'The embed token has expired.', { cause })
          : new ApiError('invalid_token', 'The embed token is not valid.', { cause })
      }
    },
  }
}
