import {
  type HoldReason,
  type IncidentAction,
  type IncidentState,
  type IncidentStatus,
  type Instant,
  invalidField,
} from '@opsplane/contracts'
import type { IncidentStep } from '../steps.js'

/** A parent gains or loses a child. Not an action on the parent: it results from an action on the child. */
export type CountChild = { kind: 'attach'; now: Instant } | { kind: 'detach'; now: Instant }

/** Throws validation_failed if the incident cannot become a child of the given parent. */
export function checkParent(parentId: string | null | undefined, child: IncidentState): void {
  if (parentId === null || parentId === undefined || parentId === child.parentId) return
  if (parentId === child.id) throw invalidParent('itself', 'An incident cannot be its own parent.')
  if (child.childCount > 0)
    throw invalidParent('has_children', 'An incident with children cannot have a parent.')
}

export const unknownParent = () =>
  invalidParent('unknown_incident', 'There is no such incident in this workspace and environment.')

/**
 * Updates the child count of the parent. It is updated even after the parent has ended, because a child may still
 * leave; nothing else of an ended incident changes. Throws validation_failed if the parent cannot have children.
 */
export function childCountEvent({ kind, now }: CountChild, state: IncidentState) {
  if (kind === 'attach') checkAttachable(state)
  const childCount = state.childCount + (kind === 'attach' ? 1 : -1)
  return { type: 'incident.updated' as const, after: { ...state, childCount, updatedAt: now } }
}

function checkAttachable({ parentId, status }: IncidentState): void {
  if (parentId !== null)
    throw invalidParent('has_parent', 'The incident has a parent itself; there is one level only.')
  if (status === 'closed' || status === 'canceled')
    throw invalidParent('ended', `The incident is ${status} and takes no children.`)
}

const invalidParent = (code: string, message: string) => invalidField('/parentId', code, message)

type Steps = readonly Extract<IncidentAction, 'start' | 'hold' | 'resume' | 'resolve' | 'reopen'>[]

/**
 * Steps of a child by the status of its parent and its own. Closing,
 * canceling, and waiting for the caller are not passed on to children.
 */
export const childSteps: Partial<Record<IncidentStatus, Partial<Record<IncidentStatus, Steps>>>> = {
  open: { on_hold: ['resume'], resolved: ['reopen'] },
  in_progress: { open: ['start'], on_hold: ['resume'], resolved: ['reopen'] },
  on_hold: { open: ['hold'], in_progress: ['hold'], resolved: ['reopen', 'hold'] },
  resolved: { open: ['resolve'], in_progress: ['resolve'], on_hold: ['resolve'] },
}

export type ParentStatus = Pick<IncidentState, 'status' | 'holdReason' | 'resolutionCode' | 'resolutionNotes'>

/**
 * Returns the steps with which a child follows its parent. It
 * resumes only if its parent had put it on hold or resolved it.
 */
export function findChildSteps(parent: ParentStatus, child: IncidentState): IncidentStep[] {
  if (parent.status === 'on_hold' && child.status === 'on_hold') return alignHoldReason(parent, child)
  const steps = childSteps[parent.status]?.[child.status] ?? []
  const isReactivation = steps[0] === 'resume' || steps[0] === 'reopen'
  if (isReactivation && !child.followsParent) return []
  return steps.flatMap((kind) => toSteps(kind, parent))
}

/**
 * A child put on hold by its parent gets the parent's hold reason, so that both resume and are timed in the
 * same way.
 */
function alignHoldReason({ holdReason }: ParentStatus, child: IncidentState): IncidentStep[] {
  if (!child.followsParent || child.holdReason === holdReason || toHoldSteps(holdReason).length === 0)
    return []
  return [{ kind: 'edit', fields: { holdReason } }]
}

function toSteps(kind: Steps[number], parent: ParentStatus): IncidentStep[] {
  switch (kind) {
    case 'hold':
      return toHoldSteps(parent.holdReason)
    case 'resolve': {
      const { resolutionCode, resolutionNotes } = parent
      return [
        { kind, resolutionCode: resolutionCode ?? undefined, resolutionNotes: resolutionNotes ?? undefined },
      ]
    }
    case 'reopen':
      return [{ kind, to: parent.status === 'open' ? 'open' : 'in_progress', reason: 'parent reopened' }]
    default:
      return [{ kind }]
  }
}

const toHoldSteps = (holdReason: HoldReason | null): IncidentStep[] =>
  holdReason === null || holdReason === 'awaiting_caller' ? [] : [{ kind: 'hold', holdReason }]
