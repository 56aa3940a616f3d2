import {
  defaultPriorityMatrix,
  type Level,
  type Priority,
  type PriorityMatrix,
  type TenantScope,
} from '@opsplane/contracts'
import type { BackendContext } from '@opsplane/eventstore'

/** The matrix that a workspace's problems take their priority from: the same everywhere. */
export async function matrixOf(
  _ctx: Pick<BackendContext, 'store' | 'database'>,
  _tenant: TenantScope,
): Promise<PriorityMatrix> {
  return defaultPriorityMatrix
}

export function priorityBy(
  matrix: PriorityMatrix,
  { impact, urgency }: { impact: Level; urgency: Level },
): Priority {
  return matrix[impact][urgency]
}
