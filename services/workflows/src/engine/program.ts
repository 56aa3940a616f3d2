import type { Step, TransformStep, WorkflowDefinition } from '@opsplane/contracts'
import { parseTemplate, type Template } from '@opsplane/sandbox'
import type { Place } from './history.js'
import { findScopeNeeds, type ScopeNeeds } from './scope-needs.js'
import { buildTemplateValue } from './step-values.js'

/** A compiled definition. Immutable, and shared by all runs of its version. */
export interface Program {
  definition: WorkflowDefinition
  main: StepList
  onFailure: StepList | null
  /** All nodes by id, including nested ones. */
  nodes: ReadonlyMap<string, Node>
  /** Outputs that replace the execution of steps, by place or id: for tests of a draft. */
  pins: ReadonlyMap<Place, unknown>
  timeoutMs: number
  /** Ids of steps whose output decides which steps run: a branch or switch reads it, directly or through transforms. */
  judged: ReadonlySet<string>
  /** Whether any step waits for events. */
  awaitsEvents: boolean
  /** Template of the key whose runs share a concurrency limit. */
  concurrencyKey: Template | null
}

/** Steps that run sequentially. */
export interface StepList {
  /** Name of the list in its container, as in `chosen`: `then`, `cases[0]`, the name of a branch. */
  key: string
  nodes: readonly Node[]
}

/** A step at its position. */
export interface Node {
  id: string
  step: Step
  /** All templates of the step; `null` if it has none. */
  template: Template | null
  needs: ScopeNeeds
  /** The lists of a container. */
  lists: readonly StepList[]
  /** The branch that contains the step, by the id of each surrounding `parallel`. */
  branches: ReadonlyMap<string, string>
}

/** Id of the step that evaluates the output of the run after all others. No step of a definition can have this id. */
export const outputId = '$output'

export interface CompileOptions {
  /** See `Program.pins`. */
  pins?: Readonly<Record<string, unknown>>
}

/** Throws if two steps have the same id or a template is invalid; definitions are validated when they are saved. */
export function compileProgram(definition: WorkflowDefinition, { pins = {} }: CompileOptions = {}): Program {
  const nodes = new Map<string, Node>()
  const listOf = (key: string, steps: readonly Step[], branches: Node['branches']): StepList => ({
    key,
    nodes: steps.map((step) => nodeOf(step, branches)),
  })
  const nodeOf = (step: Step, branches: Node['branches']): Node => {
    if (nodes.has(step.id)) throw new Error(`two steps are called ${step.id}`)
    const value = buildTemplateValue(step)
    const template = value === undefined ? null : parse(value)
    const lists = listStepLists(step).map(({ key, steps }) =>
      listOf(key, steps, step.type === 'parallel' ? new Map(branches).set(step.id, key) : branches),
    )
    const needs = template
      ? findScopeNeeds(template)
      : { fields: new Set<string>(), steps: new Set<string>() }
    const node = { id: step.id, step, template, needs, lists, branches }
    nodes.set(step.id, node)
    return node
  }
  const { steps, output, onFailure, concurrency } = definition
  const main = listOf('main', output === undefined ? steps : [...steps, outputStep(output)], new Map())
  const failure = onFailure ? listOf('onFailure', onFailure, new Map()) : null
  return {
    definition,
    main,
    onFailure: failure,
    nodes,
    pins: new Map(Object.entries(pins)),
    timeoutMs: definition.timeoutSeconds * 1_000,
    judged: judgedBy(nodes),
    awaitsEvents: [...nodes.values()].some(({ step }) => step.type === 'wait' && step.event !== undefined),
    concurrencyKey: concurrency?.key === undefined ? null : parse(concurrency.key),
  }
}

function judgedBy(nodes: Program['nodes']): Set<string> {
  const judged = new Set<string>()
  const judges = [...nodes.values()].filter(({ step: { type } }) => type === 'branch' || type === 'switch')
  for (const { needs } of judges)
    for (const id of needs.steps === 'all' ? nodes.keys() : needs.steps) {
      if (judged.has(id)) continue
      judged.add(id)
      const node = nodes.get(id)
      if (node?.step.type === 'transform') judges.push(node)
    }
  return judged
}

function parse(value: unknown): Template {
  const parsed = parseTemplate(value)
  if ('template' in parsed) return parsed.template
  throw new Error(parsed.problems.map(({ path, message }) => `${path} ${message}`).join('; '))
}

const outputStep = (value: TransformStep['value']): TransformStep => ({
  type: 'transform',
  id: outputId,
  continueOnError: false,
  value,
})

/** The lists of steps that a step contains, with their keys. */
export function listStepLists(step: Step): { key: string; steps: readonly Step[] }[] {
  switch (step.type) {
    case 'branch':
      return [{ key: 'then', steps: step.then }, ...(step.else ? [{ key: 'else', steps: step.else }] : [])]
    case 'switch':
      return [
        ...step.cases.map(({ steps }, index) => ({ key: `cases[${index}]`, steps })),
        ...(step.default ? [{ key: 'default', steps: step.default }] : []),
      ]
    case 'parallel':
      return step.branches.map(({ name, steps }) => ({ key: name, steps }))
    case 'for_each':
      return [{ key: 'steps', steps: step.steps }]
    default:
      return []
  }
}
