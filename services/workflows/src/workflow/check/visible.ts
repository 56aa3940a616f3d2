import type { Step, WorkflowDefinition, WorkflowProblem } from '@opsplane/contracts'
import { jsonPointer } from '@opsplane/http'
import { problem } from './structure.js'
import { findStepLists, type Path, visitSteps } from './walk.js'

/** What the expressions of a place can see. */
interface View {
  /** Ids of steps that have run before, or hold the place. */
  steps: ReadonlySet<string>
  inForEach: boolean
  onFailure: boolean
}

/** What an expression somewhere in a definition reads, as the sandbox finds it. */
export interface Reads {
  step: string | null
  path: Path
  references: readonly string[]
}

const always = new Set(['trigger', 'event', 'input', 'run', 'steps', '*'])
const beforeSteps = new Set(['trigger', 'event', 'input'])

/** References to steps that are not there, or cannot have run before, and to names that stand for nothing. */
export function checkReferences(definition: WorkflowDefinition, found: readonly Reads[]): WorkflowProblem[] {
  const known = new Set(visitSteps(definition).map(({ step }) => step.id))
  const views = viewsOf(definition)
  return found.flatMap(({ step, path, references }) =>
    references.flatMap((reference) => {
      const view = viewAt(views, path)
      const wrong = view === 'key' ? keyProblem(reference) : referenceProblem(reference, view, known)
      return wrong ? [problem(step, path, ...wrong)] : []
    }),
  )
}

type Wrong = readonly [code: string, message: string]

function referenceProblem(reference: string, view: View, known: ReadonlySet<string>): Wrong | undefined {
  const [root = '', ...rest] = reference.split('.')
  const step = root === 'steps' ? rest.join('.') : ''
  if (step !== '') {
    if (!known.has(step)) return ['unknown_step', `refers to ${step}, and there is no such step`]
    return view.steps.has(step)
      ? undefined
      : ['step_not_run_before', `refers to ${step}, which cannot have run before`]
  }
  if (always.has(root)) return undefined
  if (root === 'item' || root === 'index')
    return view.inForEach ? undefined : ['unknown_name', `${root} is known inside of a for_each only`]
  if (root === 'failure')
    return view.onFailure ? undefined : ['unknown_name', 'failure is known in onFailure only']
  const names = 'trigger, event, input, run, steps, item, index and failure'
  return ['unknown_name', `${root} is not known here; there are ${names}`]
}

const keyProblem = (reference: string): Wrong | undefined =>
  beforeSteps.has(reference.split('.', 1)[0] ?? '')
    ? undefined
    : ['unknown_name', 'a concurrency key sees trigger, event and input, as nothing has run yet']

/** By the pointer of a step, what its own expressions see. */
function viewsOf(definition: WorkflowDefinition): Map<string, View> {
  const views = new Map<string, View>()
  const visit = (steps: readonly Step[], path: Path, view: View): View => {
    let seen = view
    for (const [index, step] of steps.entries()) {
      const at = [...path, index]
      views.set(jsonPointer(at), seen)
      seen = { ...seen, steps: new Set([...seen.steps, ...visitInner(step, at, seen)]) }
    }
    return seen
  }
  /** The steps that can be referred to once it is over. */
  const visitInner = (step: Step, at: Path, view: View): string[] => {
    const inside = {
      ...view,
      steps: new Set([...view.steps, step.id]),
      inForEach: view.inForEach || step.type === 'for_each',
    }
    const after = findStepLists(step).flatMap((list) => [
      ...visit(list.steps, [...at, ...list.path], inside).steps,
    ])
    // Those of a for_each have as many outputs as it has items.
    return step.type === 'for_each' ? [step.id] : [step.id, ...after]
  }
  const start = { steps: new Set<string>(), inForEach: false, onFailure: false }
  const end = visit(definition.steps, ['steps'], start)
  views.set('/output', end)
  visit(definition.onFailure ?? [], ['onFailure'], { ...end, onFailure: true })
  return views
}

/** Of the innermost step that a path leads into. */
function viewAt(views: ReadonlyMap<string, View>, path: Path): View | 'key' {
  if (path[0] === 'concurrency') return 'key'
  for (let length = path.length; length > 0; length--) {
    const view = views.get(jsonPointer(path.slice(0, length)))
    if (view) return view
  }
  throw new Error(`no step stands at ${jsonPointer(path)}`)
}
