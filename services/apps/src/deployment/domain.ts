import { ApiError, type Decider, type DeploymentState, type ReadModelRow } from '@opsplane/contracts'

export interface DeploymentCommand {
  kind: 'record'
  state: DeploymentState
  /** Pages and data sources of one that goes live. */
  contents: ReadModelRow | null
}

/** A deployment, which goes live or has failed, and is never changed. */
export const deployment: Decider<DeploymentState, DeploymentCommand> = {
  resourceType: 'deployment',
  table: 'deployments',
  decide({ state: after, contents }, state) {
    if (state !== null) throw new ApiError('conflict', 'A deployment does not change.')
    return [{ type: `deploy.${after.status}`, after, ...(contents && { beside: [contents] }) }]
  },
  expose: (state) => state,
  describe: ({ appName }) => ({ displayName: appName }),
}
