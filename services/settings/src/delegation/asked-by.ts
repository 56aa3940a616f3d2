import { ApiError, type Environment, type Principal } from '@opsplane/contracts'
import { createInternalVerifier } from '@opsplane/http'
import type { Drizzle } from '@opsplane/postgres'
import type { SettingsConfig } from '../config.js'
import { reachOf } from '../token/reach.js'

export interface AskedByOptions {
  db: Pick<Drizzle, 'select'>
  config: Pick<SettingsConfig, 'trustedServiceKeys'>
}

/** What a service shows of the request of a person that it is in. */
export interface ShownRequest {
  /** The token the request came with. */
  clientToken: string
  /** Where it is to hold, unless in the environment of the request. */
  environment?: Environment | undefined
}

/** A person in a workspace; `isDelegate`: a grant acts for them. */
export interface AskedBy {
  principal: Principal & { workspaceId: string }
  isDelegate: boolean
}

/**
 * Who has asked a service for something, by the token their request to it came with. Throws `forbidden` for the token of no
 * person, `environment_forbidden` where their key does not open the environment.
 */
export const createAskedBy =
  ({ db, config: { trustedServiceKeys: trustedKeys } }: AskedByOptions) =>
  async ({ clientToken, environment }: ShownRequest, service: string): Promise<AskedBy> => {
    const verifier = createInternalVerifier({ service, trustedKeys })
    const client = await verifier.verify(clientToken, { method: 'GET', path: '' })
    if (client.kind === 'service' || client.principal?.workspaceId === undefined)
      throw new ApiError('forbidden', 'Only what a person asks for in a workspace can go on in their name.')
    const { principal, kind } = client
    const { workspaceId } = client.principal
    // A successor takes over for good, although somebody else has named them.
    const isDelegate = kind === 'delegate' && client.succeeds !== true
    if (environment !== undefined && environment !== principal.environment) {
      // What acts for somebody itself stays where it is.
      const reach = isDelegate ? [] : await reachOf(db, principal)
      if (reach !== null && !reach.includes(environment))
        throw new ApiError('environment_forbidden', `The key is not valid in ${environment}.`)
    }
    return {
      principal: { ...principal, workspaceId, ...(environment !== undefined && { environment }) },
      isDelegate,
    }
  }
