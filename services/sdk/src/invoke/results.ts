import type { Execution, Principal } from '@opsplane/contracts'
import type { StoredExecution } from '../execution/queries.js'
import type { ExecutionSealing } from './sealing.js'

/** An execution as its caller gets it. */
export interface RanExecution {
  execution: Execution
  /** Whether its result is not what the log shows, so that it is sealed and kept nowhere else. */
  isSealed: boolean
}

/** An execution of the log as its caller gets it, however often. */
export type ReadResult = (stored: StoredExecution) => Promise<RanExecution>

export const createReadResult =
  ({ result }: Pick<ExecutionSealing, 'result'>): ReadResult =>
  async ({ shown, sealedResult }) => {
    if (sealedResult === null) return { execution: shown, isSealed: false }
    const { id, environment, workspace_id: workspaceId } = shown
    const owner = { id, tenant: { workspaceId, environment } }
    return { execution: { ...shown, ...(await result.open(owner, sealedResult)) }, isSealed: true }
  }

/** Whether an execution is read by the API key that asked for it, which gets what its answer would have had. */
export const isCaller = (
  { shown: { trigger_type, trigger_id } }: Pick<StoredExecution, 'shown'>,
  { tokenId }: Pick<Principal, 'tokenId'>,
): boolean => trigger_type === 'api' && trigger_id === tokenId
