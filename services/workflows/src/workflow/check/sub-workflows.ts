import type { WorkflowDefinition, WorkflowProblem } from '@opsplane/contracts'
import { problem } from './structure.js'
import { visitSteps } from './walk.js'

/** A workflow as needed to check steps of type `workflow`. */
export interface Callee {
  id: string
  /** Definition of the published version; `null` if nothing is published. */
  definition: WorkflowDefinition | null
}

/** Finds workflows by id; missing and archived ones are absent. */
export type FindWorkflows = (ids: readonly string[]) => Promise<ReadonlyMap<string, Callee>>

const maxNesting = 20

/** Finds `workflow` steps whose workflow does not exist, is not published, or leads back to this one. */
export async function checkSubWorkflows(
  id: string | null,
  definition: WorkflowDefinition,
  find: FindWorkflows,
): Promise<WorkflowProblem[]> {
  const calls = visitSteps(definition).flatMap(({ step, path }) =>
    step.type === 'workflow' ? [{ step: step.id, path: [...path, 'workflow'], called: step.workflow }] : [],
  )
  if (calls.length === 0) return []
  const found = new Map(await find([...new Set(calls.map(({ called }) => called))]))
  const problems: WorkflowProblem[] = []
  for (const { step, path, called } of calls) {
    const callee = found.get(called)
    if (!callee)
      problems.push(problem(step, path, 'unknown_workflow', 'names no workflow of this environment'))
    else if (called === id || (id !== null && (await leadsTo(id, callee, find))))
      problems.push(problem(step, path, 'workflow_cycle', 'comes back to this workflow'))
    else if (callee.definition === null)
      problems.push(problem(step, path, 'workflow_not_published', 'names a workflow that is not published'))
  }
  return problems
}

/** Whether runs of a workflow can start runs of the one with this id. */
async function leadsTo(id: string, callee: Callee, find: FindWorkflows): Promise<boolean> {
  const seen = new Set([callee.id])
  let level = calledBy(callee)
  for (let depth = 0; depth < maxNesting && level.length > 0; depth++) {
    if (level.includes(id)) return true
    const fresh = [...new Set(level)].filter((next) => !seen.has(next))
    for (const next of fresh) seen.add(next)
    level = [...(await find(fresh)).values()].flatMap(calledBy)
  }
  return level.length > 0
}

const calledBy = ({ definition }: Callee): string[] =>
  definition === null
    ? []
    : visitSteps(definition).flatMap(({ step }) => (step.type === 'workflow' ? [step.workflow] : []))
