import { ApiError } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import type { DeploymentUse } from './deployment-use.js'

/**
 * Throws `forbidden` (`owner_rights`) for a deployment that is held until it is taken over. Callers who may read apps
 * receive the permissions that its giver lacks.
 */
export function refuseSuspended(
  { deployment: { heldReason, missing } }: Pick<DeploymentUse, 'deployment'>,
  { principal }: Pick<RequestMeta, 'principal'>,
): void {
  if (heldReason === null) return
  const message = 'The app shows no data: the user who granted its rights has lost some of them.'
  const isShown = principal.permissions.includes('apps:read')
  throw new ApiError('forbidden', message, {
    details: [
      {
        ...{ in: 'path', path: '/slug', code: heldReason, message },
        ...(isShown && { params: { missing } }),
      },
    ],
  })
}
