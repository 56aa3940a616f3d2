import {
  assertNever,
  type IncidentState,
  type Instant,
  type ItsmEventType,
  invalidField,
} from '@opsplane/contracts'
import { escalate } from './escalation.js'
import { checkResolution } from './resolution.js'
import type { IncidentStep } from './steps.js'

/** The event of an action and the fields it sets in addition to the status. */
export interface Outcome {
  type: ItsmEventType
  changes: Partial<IncidentState>
  extras?: Record<string, unknown>
}

/** Returns the event of an action and the fields it sets. Only the transition table changes the status. */
export function computeOutcome(step: IncidentStep, now: Instant, state: IncidentState): Outcome {
  switch (step.kind) {
    case 'edit':
      return { type: 'incident.updated', changes: step.fields }
    case 'assign':
      return { type: 'incident.assigned', changes: { assigneeId: step.assigneeId } }
    case 'escalate':
      return escalate(step, state)
    case 'comment':
      return {
        type: 'incident.comment_added',
        changes: { commentCount: state.commentCount + 1 },
        extras: { comment: step.comment },
      }
    case 'start':
    case 'resume':
      return { type: 'incident.updated', changes: {} }
    case 'hold':
      return { type: 'incident.updated', changes: { holdReason: step.holdReason } }
    case 'resolve':
      checkResolution(step)
      return {
        type: 'incident.resolved',
        changes: {
          resolutionCode: step.resolutionCode ?? null,
          resolutionNotes: step.resolutionNotes ?? null,
          resolvedAt: now,
        },
      }
    case 'reopen':
      return {
        type: 'incident.reopened',
        changes: {
          reopenCount: state.reopenCount + 1,
          resolutionCode: null,
          resolutionNotes: null,
          resolvedAt: null,
        },
        extras: { reason: step.reason ?? null },
      }
    case 'close':
      checkReview(state)
      return { type: 'incident.closed', changes: { closedAt: now }, extras: { outcome: 'closed' } }
    case 'cancel':
      return { type: 'incident.closed', changes: { closedAt: now }, extras: { outcome: 'canceled' } }
    default:
      return assertNever(step)
  }
}

/** A major incident cannot be closed without a post-incident review. */
function checkReview({ majorState, postIncidentReview }: IncidentState): void {
  if (majorState !== 'accepted' || postIncidentReview !== null) return
  throw invalidField(
    '/postIncidentReview',
    'required',
    'A major incident is closed with a postIncidentReview, or demoted first.',
  )
}
