import type { Level, Priority, PriorityMatrix } from '@opsplane/contracts'

export function priorityBy(
  matrix: PriorityMatrix,
  { impact, urgency }: { impact: Level; urgency: Level },
): Priority {
  return matrix[impact][urgency]
}
