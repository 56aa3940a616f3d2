import type { Step, WorkflowDefinition, WorkflowProblem } from '@opsplane/contracts'
import { jsonPointer } from '@opsplane/http'
import { problem } from './structure.js'
import { findStepLists, type Path, visitSteps } from './walk.js'

/** The values visible to expressions at a place. */
interface View {
  /** Ids of steps that have run before or contain the place. */
  steps: ReadonlySet<string>
  inForEach: boolean
  onFailure: boolean
}

/** The references of an expression in a definition, as found by the sandbox. */
export interface Reads {
  step: string | null
  path: Path
  references: readonly string[]
}

const always = new Set(['trigger', 'event', 'input', 'run', 'steps', '*'])
const beforeSteps = new Set(['trigger', 'event', 'input'])

/** Finds references to steps that do not exist, or cannot have run before, and to unknown names. */
export function checkReferences(definition: WorkflowDefinition, found: readonly Reads[]): WorkflowProblem[] {
  const known = new Set(visitSteps(definition).map(({ step }) => step.id))
  const views = buildViews(definition)
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

/** The view of each step's own expressions, by the step's pointer. */
function buildViews(definition: WorkflowDefinition): Map<string, View> {
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
  /** The steps that later steps can refer to once this one is finished. */
  const visitInner = (step: Step, at: Path, view: View): string[] => {
    const inside = {
      ...view,
      steps: new Set([...view.steps, step.id]),
      inForEach: view.inForEach || step.type === 'for_each',
    }
    const after = findStepLists(step).flatMap((list) => [
      ...visit(list.steps, [...at, ...list.path], inside).steps,
    ])
    // Steps in a `for_each` have one output for each item and cannot be referred to from outside.
    return step.type === 'for_each' ? [step.id] : [step.id, ...after]
  }
  const start = { steps: new Set<string>(), inForEach: false, onFailure: false }
  const end = visit(definition.steps, ['steps'], start)
  views.set('/output', end)
  visit(definition.onFailure ?? [], ['onFailure'], { ...end, onFailure: true })
  return views
}

/** The view of the innermost step on a path. */
function viewAt(views: ReadonlyMap<string, View>, path: Path): View | 'key' {
  if (path[0] === 'concurrency') return 'key'
  for (let length = path.length; length > 0; length--) {
    const view = views.get(jsonPointer(path.slice(0, length)))
    if (view) return view
  }
  throw new Error(`no step stands at ${jsonPointer(path)}`)
}
