import { ApiError, idPrefixes, type Principal } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'

/** Requires a session, because keys are for programs and may be shared. Throws `forbidden` with this message. */
export function requireSession({ principal }: Pick<RequestMeta, 'principal'>, refusal: string): Principal {
  if (principal.tokenId.startsWith(`${idPrefixes.session}_`)) return principal
  throw new ApiError('forbidden', refusal)
}
