import type { Level, Priority, PriorityMatrix } from '@opsplane/contracts'

/** What the matrix of the settings says: the one way incidents and problems read it. */
export function findPriority(
  matrix: PriorityMatrix,
  { impact, urgency }: { impact: Level; urgency: Level },
): Priority {
  return matrix[impact][urgency]
}
