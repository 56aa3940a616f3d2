import { constantTimeEqual, hmacSha256 } from '@opsplane/runtime'

/** What a download URL says of itself. */
export interface LinkClaims {
  linkId: string
  /** Unix seconds. */
  expires: number
}

/** Signs what download URLs say, so that a guess or a change costs no look into the database. */
export interface LinkTokens {
  sign(claims: LinkClaims): string
  /** Undefined for everything that was not signed here. */
  read(token: string): LinkClaims | undefined
}

const form = /^(lnk_[0-9A-HJKMNP-TV-Z]{26})\.(\d{1,12})\.([\w-]{43})$/

/** `secret`: at least 32 characters, the same in every replica. */
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
