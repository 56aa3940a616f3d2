import {
  alreadyExists,
  assertNever,
  type Decider,
  type Decision,
  DeploymentState,
  type Instant,
  invalidTransition,
  notFound,
  type ReadModelRow,
} from '@opsplane/contracts'
import { z } from 'zod'

/** A deployment as stored: includes the standing grant of its giver, which no event or response contains. */
export const StoredDeployment = DeploymentState.extend({ grant: z.string().nullable().default(null) })
export type StoredDeployment = z.infer<typeof StoredDeployment>

export type DeploymentCommand =
  | {
      kind: 'record'
      state: StoredDeployment
      /** Pages and data sources of a deployment that goes live; `null` for a failed one. */
      contents: ReadModelRow | null
    }
  /** The giver lacks some of the permissions of the deployment. */
  | { kind: 'suspend'; giverId: string; missing: readonly string[]; now: Instant }
  | { kind: 'take_over'; giverId: string; grant: string; now: Instant }

/**
 * The person whose rights a deployment carries. For a deployment stored before `giverId` existed: the user who
 * deployed it.
 */
export const findGiver = ({ giverId, deployedBy }: Pick<DeploymentState, 'giverId' | 'deployedBy'>): string =>
  giverId ?? deployedBy

/** A deployment is either live or failed. Its contents never change; the giver of its rights may. */
export const deployment: Decider<StoredDeployment, DeploymentCommand, DeploymentState> = {
  resourceType: 'deployment',
  table: 'deployments',
  decide(command, state) {
    if (command.kind === 'record') {
      if (state !== null) throw alreadyExists('deployment')
      const { state: after, contents } = command
      return [{ type: `deploy.${after.status}`, after, ...(contents && { extraRows: [contents] }) }]
    }
    if (state === null) throw notFound()
    switch (command.kind) {
      case 'suspend':
        return suspended(command, state)
      case 'take_over': {
        if (state.status === 'failed') throw invalidTransition('take over', 'failed', [])
        const { giverId, grant, now: updatedAt } = command
        const after = { ...state, ...{ giverId, grant, heldReason: null, missing: [], updatedAt } }
        return [{ type: 'deploy.taken_over', after }]
      }
      default:
        return assertNever(command)
    }
  },
  expose({ grant: _, ...state }) {
    const { heldReason = null, missing = [] } = state
    return { ...state, giverId: findGiver(state), heldReason, missing }
  },
  describe: ({ appName }) => ({ displayName: appName }),
}

/** No event if the deployment was taken over meanwhile, or is held already. */
function suspended(
  { giverId, missing: lacked, now: updatedAt }: Extract<DeploymentCommand, { kind: 'suspend' }>,
  state: StoredDeployment,
): Decision<StoredDeployment>[] {
  if (findGiver(state) !== giverId || state.heldReason) return []
  const missing = [...lacked]
  const after = { ...state, heldReason: 'owner_rights' as const, missing, updatedAt }
  return [{ type: 'deploy.suspended', after, extras: { missing } }]
}
