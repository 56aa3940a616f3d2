import { constantTimeEqual, hmacSha256 } from '@opsplane/runtime'

/** The signed content of a download URL. */
export interface LinkClaims {
  linkId: string
  /** Unix seconds. */
  expires: number
}

/** Signs download URLs, so that guessed or altered ones are rejected without a database query. */
export interface LinkTokens {
  sign(claims: LinkClaims): string
  /** Returns `undefined` for tokens without a valid signature. */
  read(token: string): LinkClaims | undefined
}

const form = /^(lnk_[0-9A-HJKMNP-TV-Z]{26})\.(\d{1,12})\.([\w-]{43})$/

/** @param secret at least 32 characters, the same in every replica */
export function linkTokens(secret: string): LinkTokens {
  const key = hmacSha256(secret, 'opsplane downloads of exports')
  const macOf = (claims: string) => hmacSha256(key, claims).toString('base64url')
  return {
    sign({ linkId, expires }) {
      const claims = `${linkId}.${expires}`
      return `${claims}.${macOf(claims)}`
    },
    read(token) {
      const [, linkId, expires, mac] = form.exec(token) ?? []
      if (linkId === undefined || expires === undefined || mac === undefined) return undefined
      if (!constantTimeEqual(mac, macOf(`${linkId}.${expires}`))) return undefined
      return { linkId, expires: Number(expires) }
    },
  }
}
