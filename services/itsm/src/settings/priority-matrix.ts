import type { Level, Priority, PriorityMatrix } from '@opsplane/contracts'

/** Returns the priority from the matrix in the settings. The only lookup, used for both incidents and problems. */
export function findPriority(
  matrix: PriorityMatrix,
  { impact, urgency }: { impact: Level; urgency: Level },
): Priority {
  return matrix[impact][urgency]
}
