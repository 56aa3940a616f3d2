import { ApiError, type Environment, EnvironmentScope } from '@opsplane/contracts'
import type { RequestMeta } from '../route/route.js'
import type { ServiceClient } from './service-client.js'

/**
 * Checks access to a second environment that a request reads or changes in addition to its own: a
 * key may be limited to environments, and the gateway only checked the request's own one. `pointer`
 * names the field of the body. Throws `forbidden`.
 */
export type RequireEnvironment = (
  meta: Pick<RequestMeta, 'principal'>,
  environment: Environment,
  pointer: string,
) => Promise<void>

/** `settings`: a client of the settings service, which stores the keys. */
export function createRequireEnvironment(settings: Pick<ServiceClient, 'post'>): RequireEnvironment {
  return async ({ principal: { tokenId } }, environment, path) => {
    const { environments } = await settings.post('/internal/environment-scope', { tokenId }, EnvironmentScope)
    if (environments === null || environments.includes(environment)) return
    const message = `The key is not valid in ${environment}.`
    throw new ApiError('forbidden', message, {
      details: [{ in: 'body', path, code: 'environment_not_held', message }],
    })
  }
}
