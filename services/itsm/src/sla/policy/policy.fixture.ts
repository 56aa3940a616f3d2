import type { Instant, SlaPolicyState } from '@opsplane/contracts'

/**
 * A policy for incidents with goals by severity, around the
 * clock, active since its creation. `fields` override its own.
 */
export function samplePolicy(createdAt: Instant, fields: Partial<SlaPolicyState> = {}): SlaPolicyState {
  return {
    id: 'slp_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
    name: 'Gold',
    entityType: 'incident',
    metric: 'resolution',
    goalsBy: 'severity',
    goalUnit: 'minutes',
    goals: { critical: 20, medium: 60 },
    calendarId: null,
    conditions: {},
    pauseReasons: ['awaiting_vendor'],
    pauseStatuses: [],
    warnings: [50],
    escalations: [],
    status: 'active',
    revision: 1,
    activeSince: createdAt,
    createdAt,
    updatedAt: createdAt,
    ...fields,
  }
}
