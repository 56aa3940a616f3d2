import type { Done, RunMemory, Scope, StepRun } from './memory.js'
import type { Node, Program } from './program.js'
import type { ScopeNeeds } from './scope-needs.js'

/**
 * The scope for the expressions of a step: the values they may read according to their text, or all values if that
 * cannot be determined, which is expensive.
 */
export function buildScope(program: Program, memory: RunMemory, step: StepRun): Record<string, unknown> {
  const { needs } = step.node
  const { context, attempt, startedAt, failure } = memory
  const { runId: id, workflowId, version, trigger, event, input } = context
  const round = buildRound(step.row.scope)
  const all = {
    trigger,
    event,
    input,
    run: { id, workflowId, version, attempt, startedAt: new Date(startedAt ?? 0).toISOString() },
    steps: reads(needs, 'steps') ? stepsSeen(program, step) : {},
    ...round,
    ...(memory.onFailure && { failure }),
  }
  return Object.fromEntries(Object.entries(all).filter(([name]) => reads(needs, name)))
}

const reads = ({ fields }: ScopeNeeds, name: string): boolean => fields === 'all' || fields.has(name)

/** The iteration of the innermost `for_each`. */
function buildRound(inner: Scope): Scope['round'] {
  for (let scope: Scope | null = inner; scope; scope = scope.parent) if (scope.round) return scope.round
  return null
}

function stepsSeen(program: Program, { node, row }: StepRun): Record<string, Done> {
  const { steps } = node.needs
  const seen: Record<string, Done> = {}
  for (let scope: Scope | null = row.scope; scope; scope = scope.parent) {
    for (const id of steps === 'all' ? scope.done.keys() : steps) {
      const done = scope.done.get(id)
      if (done && !isInOtherBranch(node, program.nodes.get(id))) seen[id] ??= done
    }
  }
  return seen
}

/** Branches of a `parallel` do not see each other: the result would depend on which one is faster. */
function isInOtherBranch({ branches }: Node, other: Node | undefined): boolean {
  for (const [parallel, branch] of other?.branches ?? []) {
    const own = branches.get(parallel)
    if (own !== undefined && own !== branch) return true
  }
  return false
}
