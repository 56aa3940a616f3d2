import type { Execution, Principal } from '@opsplane/contracts'
import type { StoredExecution } from '../execution/queries.js'
import type { ExecutionSealing } from './sealing.js'

/** An execution as its caller gets it. */
export interface CallerResult {
  execution: Execution
  /** Whether its result is not what the log shows, so that it is sealed and kept nowhere else. */
  isSealed: boolean
  /** Those in its result. */
  secrets: string[]
}

/** An execution of the log as its caller gets it, however often. */
export type ReadResult = (stored: StoredExecution) => Promise<CallerResult>

export const createReadResult =
  ({ result }: Pick<ExecutionSealing, 'result'>): ReadResult =>
  async ({ shown, sealedResult }) => {
    if (sealedResult === null) return { execution: shown, isSealed: false, secrets: [] }
    const { id, environment, workspace_id: workspaceId } = shown
    const owner = { id, tenant: { workspaceId, environment } }
    const { secrets = [], ...opened } = await result.open(owner, sealedResult)
    return { execution: { ...shown, ...opened }, isSealed: true, secrets }
  }

/** Whether an execution is read by the API key that asked for it, which gets what its answer would have had. */
export const isCaller = (
  { shown: { trigger_type, trigger_id } }: Pick<StoredExecution, 'shown'>,
  { tokenId }: Pick<Principal, 'tokenId'>,
): boolean => trigger_type === 'api' && trigger_id === tokenId
