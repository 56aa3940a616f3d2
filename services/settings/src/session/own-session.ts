import { ApiError, idPrefixes, type Principal } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'

/** The session a request is made in: a key is for programs, and may be in many hands. Throws `forbidden` with this message. */
export function requireSession({ principal }: Pick<RequestMeta, 'principal'>, refusal: string): Principal {
  if (principal.tokenId.startsWith(`${idPrefixes.session}_`)) return principal
  throw new ApiError('forbidden', refusal)
}
