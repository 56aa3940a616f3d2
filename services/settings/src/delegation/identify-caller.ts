import { ApiError, type Environment, type Principal } from '@opsplane/contracts'
import { createInternalVerifier } from '@opsplane/http'
import type { Drizzle } from '@opsplane/postgres'
import type { SettingsConfig } from '../config.js'
import { findKeyEnvironments } from '../token/key-environments.js'

export interface IdentifyCallerOptions {
  db: Pick<Drizzle, 'select'>
  config: Pick<SettingsConfig, 'trustedServiceKeys'>
}

/** The part of a person's request that a service forwards. */
export interface ForwardedRequest {
  /** The token of the request. */
  clientToken: string
  /** The environment to act in; default: the environment of the request. */
  environment?: Environment | undefined
}

/** A person in a workspace; `isDelegate`: the request is made by a grant on their behalf. */
export interface IdentifiedCaller {
  principal: Principal & { workspaceId: string }
  isDelegate: boolean
}

/**
 * Identifies the caller of a service by the token of their request to it. Throws `forbidden` if the token does not
 * belong to a person, `environment_forbidden` if their key is not valid in the environment.
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
    // A successor takes over permanently, although another person named them.
    const isDelegate = kind === 'delegate' && client.succeeds !== true
    if (environment !== undefined && environment !== principal.environment) {
      // A delegate must stay in its environment.
      const reach = isDelegate ? [] : await findKeyEnvironments(db, principal)
      if (reach !== null && !reach.includes(environment))
        throw new ApiError('environment_forbidden', `The key is not valid in ${environment}.`)
    }
    return {
      principal: { ...principal, workspaceId, ...(environment !== undefined && { environment }) },
      isDelegate,
    }
  }
