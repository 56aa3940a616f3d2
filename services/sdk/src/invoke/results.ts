import type { Execution, Principal } from '@opsplane/contracts'
import type { StoredExecution } from '../execution/queries.js'
import type { ExecutionSealing } from './sealing.js'

/** An execution as returned to its caller. */
export interface CallerResult {
  execution: Execution
  /** Whether the result differs from the one in the log, so that it is stored only in sealed form. */
  isSealed: boolean
  /** Secrets contained in the result. */
  secrets: string[]
}

/** Reads a logged execution as its caller receives it; repeatable. */
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

/** Whether the reader is the API key that requested the execution; it receives the same result as in the response. */
export const isCaller = (
  { shown: { trigger_type, trigger_id } }: Pick<StoredExecution, 'shown'>,
  { tokenId }: Pick<Principal, 'tokenId'>,
): boolean => trigger_type === 'api' && trigger_id === tokenId
