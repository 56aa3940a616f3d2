import type { Run, RunDetail, RunStep } from '@opsplane/contracts'
import type { Column } from '../table.js'

export const runColumns: Column<Run>[] = [
  { title: 'id', value: ({ id }) => id },
  { title: 'status', value: ({ status }) => status },
  { title: 'workflow', value: workflowOf, elastic: true },
  { title: 'trigger', value: ({ triggerType }) => triggerType },
  { title: 'attempt', value: ({ attempt }) => attempt },
  { title: 'queued', value: ({ queuedAt }) => queuedAt },
  { title: 'ended', value: ({ endedAt }) => endedAt },
  { title: 'error', value: errorOf, elastic: true },
]

/** A run as one line of text. */
export function runLine(run: Run): string {
  const parts = [run.queuedAt, run.id, run.status, run.triggerType, workflowOf(run), errorOf(run)]
  return parts.filter(Boolean).join('  ')
}

/** A run and its tree of steps as readable text. */
export function runLines(run: RunDetail): string[] {
  const error = errorOf(run)
  return [
    `run       ${run.id}`,
    `workflow  ${run.workflowId} ${workflowOf(run)}`,
    `trigger   ${[run.triggerType, run.trigger.id].filter(Boolean).join(' ')}`,
    `status    ${run.status}${run.nextDueAt ? `, goes on ${run.nextDueAt}` : ''}`,
    `attempt   ${run.attempt}`,
    `queued    ${run.queuedAt}`,
    ...(run.endedAt ? [`ended     ${run.endedAt}`] : []),
    ...(error ? [`error     ${error}`] : []),
    ...(run.steps.length > 0 ? ['', ...treeOf(run.steps)] : []),
    ...(run.nextSteps === null ? [] : [`more steps: GET /runs/${run.id}/steps?after=${run.nextSteps}`]),
  ]
}

/** Places each step below its parent, in the order in which the steps started; each attempt of the run has its own tree. */
function treeOf(steps: readonly RunStep[]): string[] {
  const key = (runAttempt: number, place: string | null) => `${runAttempt}/${place ?? ''}`
  const places = new Set(steps.map(({ runAttempt, place }) => key(runAttempt, place)))
  const below = new Map<string, RunStep[]>()
  for (const step of steps) {
    const within = key(step.runAttempt, step.parent)
    const parent = places.has(within) ? within : ''
    below.set(parent, [...(below.get(parent) ?? []), step])
  }
  const linesOf = (step: RunStep, depth: number): string[] => {
    const indent = '  '.repeat(depth)
    const own = stepLines(step).map((line) => `${indent}${line}`)
    const inner = below.get(key(step.runAttempt, step.place)) ?? []
    return [...own, ...inner.flatMap((each) => linesOf(each, depth + 1))]
  }
  return (below.get('') ?? []).flatMap((step) => linesOf(step, 0))
}

function stepLines(step: RunStep): string[] {
  const {
    place,
    type,
    status,
    durationMs,
    runAttempt,
    chosen,
    itemCount,
    childRunId,
    error,
    attempts,
    waiting,
  } = step
  const facts = [
    durationMs !== null && `${durationMs} ms`,
    runAttempt > 1 && `attempt ${runAttempt} of the run`,
    chosen !== null && `took ${chosen}`,
    itemCount !== null && `${itemCount} items`,
    childRunId,
    waiting && `waits for ${waiting.for}${waiting.dueAt ? ` until ${waiting.dueAt}` : ''}`,
  ]
  return [
    [`${place} (${type})`, status, ...facts].filter(Boolean).join('  '),
    ...attempts.map(
      ({ number, error: failed }) => `  ! attempt ${number}: ${failed.code}: ${failed.message}`,
    ),
    ...(error ? [`  ! ${error.code}: ${error.message}`] : []),
  ]
}

function workflowOf({ workflowName, workflowVersion }: Run): string {
  return `${workflowName} ${workflowVersion === 0 ? 'draft' : `v${workflowVersion}`}`
}

function errorOf({ error }: Run): string | null {
  return error && `${error.step ? `${error.step}: ` : ''}${error.code}: ${error.message}`
}
