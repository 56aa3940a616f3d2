import { ApiError, type Environment, type Principal } from '@opsplane/contracts'
import { createInternalVerifier } from '@opsplane/http'
import type { Drizzle } from '@opsplane/postgres'
import type { SettingsConfig } from '../config.js'
import { findKeyEnvironments } from '../token/key-environments.js'

export interface IdentifyCallerOptions {
  db: Pick<Drizzle, 'select'>
  config: Pick<SettingsConfig, 'trustedServiceKeys'>
}

/** What a service shows of the request of a person that it is in. */
export interface ForwardedRequest {
  /** The token the request came with. */
  clientToken: string
  /** Where it is to hold, unless in the environment of the request. */
  environment?: Environment | undefined
}

/** A person in a workspace; `isDelegate`: a grant acts for them. */
export interface IdentifiedCaller {
  principal: Principal & { workspaceId: string }
  isDelegate: boolean
}

/**
 * Who has asked a service for something, by the token their request to it came with. Throws `forbidden` for the token of no
 * person, `environment_forbidden` where their key does not open the environment.
 */
export const createIdentifyCaller =
  ({ db, config: { trustedServiceKeys: trustedKeys } }: IdentifyCallerOptions) =>
  async ({ clientToken, environment }: ForwardedRequest, service: string): Promise<IdentifiedCaller> => {
    const verifier = createInternalVerifier({ service, trustedKeys })
    const client = await verifier.verify(clientToken, { method: 'GET', path: '' })
    if (client.kind === 'service' || client.principal?.workspaceId === undefined)
      throw new ApiError('forbidden', 'Only a request of a person in a workspace can be delegated.')
    const { principal, kind } = client
    const { workspaceId } = client.principal
    // A successor takes over permanently, although another person has named them.
    const isDelegate = kind === 'delegate' && client.succeeds !== true
    if (environment !== undefined && environment !== principal.environment) {
      // A delegate stays in its environment.
      const reach = isDelegate ? [] : await findKeyEnvironments(db, principal)
      if (reach !== null && !reach.includes(environment))
        throw new ApiError('environment_forbidden', `The key is not valid in ${environment}.`)
    }
    return {
      principal: { ...principal, workspaceId, ...(environment !== undefined && { environment }) },
      isDelegate,
    }
  }
