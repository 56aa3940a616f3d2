import { type Step, stringifyExact, type WorkflowDefinition, type WorkflowProblem } from '@opsplane/contracts'
import { jsonPointer } from '@opsplane/http'
import { isTemplate } from './templates.js'
import { findStepLists, type Path, type Visit, visitSteps } from './walk.js'

export const maxSteps = 200
export const maxStepDepth = 8
export const maxDefinitionBytes = 256 * 1024

/** Finds problems of the steps alone: their ids, their number, and unreachable steps. */
export function checkStructure(definition: WorkflowDefinition): WorkflowProblem[] {
  const all = visitSteps(definition)
  return [
    ...tooLarge(definition, all),
    ...all.filter(({ depth }) => depth === maxStepDepth + 1).map(tooDeep),
    ...repeatedIds(all),
    ...unreachable(definition.steps, ['steps']),
    ...unreachable(definition.onFailure ?? [], ['onFailure']),
    ...all.flatMap(({ step, path }) => incomplete(step, path)),
    ...queueing(definition),
  ]
}

export function problem(step: string | null, path: Path, code: string, message: string): WorkflowProblem {
  return { step, path: jsonPointer(path), code, message }
}

function tooLarge(definition: WorkflowDefinition, all: readonly Visit[]): WorkflowProblem[] {
  const found: WorkflowProblem[] = []
  if (all.length > maxSteps)
    found.push(problem(null, ['steps'], 'too_many_steps', `has ${all.length} steps, at most ${maxSteps} fit`))
  if (Buffer.byteLength(stringifyExact(definition)) > maxDefinitionBytes)
    found.push(problem(null, [], 'too_large', `has more than ${maxDefinitionBytes} bytes`))
  return found
}

const tooDeep = ({ step, path }: Visit) =>
  problem(step.id, path, 'too_deep', `stands more than ${maxStepDepth} levels deep`)

/**
 * A schedule with `queue` starts each run when it is due and relies on the workflow's concurrency limit to
 * queue it.
 */
function queueing({ trigger, concurrency }: WorkflowDefinition): WorkflowProblem[] {
  if (trigger.type !== 'schedule' || trigger.schedule.overlap !== 'queue') return []
  const waits = concurrency?.limit === 1 && concurrency.whenFull === 'queue'
  const message = 'needs a `concurrency` with the limit 1 that queues runs'
  return waits ? [] : [problem(null, ['trigger', 'schedule', 'overlap'], 'needs_concurrency', message)]
}

function repeatedIds(all: readonly Visit[]): WorkflowProblem[] {
  const known = new Set<string>()
  return all.flatMap(({ step: { id }, path }) => {
    const repeated = known.has(id)
    known.add(id)
    return repeated ? [problem(id, [...path, 'id'], 'repeated_id', 'is the id of another step, too')] : []
  })
}

/** Finds the first step after a step that ends the run. */
function unreachable(steps: readonly Step[], path: Path): WorkflowProblem[] {
  const end = steps.findIndex(ends)
  const after = end < 0 ? undefined : steps[end + 1]
  const own = after
    ? [
        problem(
          after.id,
          [...path, end + 1],
          'unreachable_step',
          `is never reached, as ${steps[end]?.id} ends the run`,
        ),
      ]
    : []
  const inner = steps.flatMap((step, index) =>
    findStepLists(step).flatMap((list) => unreachable(list.steps, [...path, index, ...list.path])),
  )
  return [...own, ...inner]
}

/** Whether no step can follow, whatever happens. */
function ends(step: Step): boolean {
  if (step.type === 'stop') return true
  if (step.type === 'fail') return !step.continueOnError
  if (step.continueOnError) return false
  const lists = findStepLists(step)
  const whole =
    step.type === 'branch' ? step.else !== undefined : step.type === 'switch' && step.default !== undefined
  return whole && lists.every(({ steps }) => steps.some(ends))
}

function incomplete(step: Step, path: Path): WorkflowProblem[] {
  switch (step.type) {
    case 'wait': {
      const presentFields = [step.seconds, step.until, step.event].filter((way) => way !== undefined)
      const message = 'needs exactly one of seconds, until and event'
      return presentFields.length === 1 ? [] : [problem(step.id, path, 'one_way_to_wait', message)]
    }
    case 'approval': {
      const { users, roles } = step.approvers
      const at = [...path, 'approvers']
      if (users.length + roles.length === 0)
        return [problem(step.id, at, 'no_approvers', 'names no approver')]
      const enough = roles.length > 0 || users.some(isTemplate) || new Set(users).size >= step.quorum
      const message = `needs ${step.quorum} approvals of ${users.length} people`
      return enough ? [] : [problem(step.id, [...path, 'quorum'], 'quorum_out_of_reach', message)]
    }
    case 'parallel': {
      const names = step.branches.map(({ name }) => name)
      const repeated = names.findIndex((name, index) => names.indexOf(name) < index)
      const at = [...path, 'branches', repeated, 'name']
      return repeated < 0 ? [] : [problem(step.id, at, 'repeated_name', 'is the name of another branch, too')]
    }
    default:
      return []
  }
}
