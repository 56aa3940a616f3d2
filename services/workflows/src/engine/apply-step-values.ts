import { assertNever, canonicalJson } from '@opsplane/contracts'
import type { Evaluated, ExpressionError } from '@opsplane/sandbox'
import type { Entry } from './history.js'
import { completeStep, endRunAfter, failPermanently, type StepDecision } from './outcomes.js'
import { findPin } from './rows.js'
import { isTrue, toFields, toText } from './values.js'
import { awaitApproval, wait } from './waits.js'

/** Decides on a step's evaluated values: the step completes, or starts its effect. */
export function applyStepValues(deciding: StepDecision, values: readonly Evaluated[]): Entry[] {
  const pin = findPin(deciding.program, deciding.step)
  if (pin) return completeStep(deciding, pin.output)
  const [result] = values
  if (result === undefined) return []
  return result.ok ? continueStep(deciding, result.value) : refused(deciding, result.error)
}

function refused(deciding: StepDecision, { code, message, ...where }: ExpressionError): Entry[] {
  return failPermanently(deciding, code, `An expression ${message}`, where)
}

function continueStep(deciding: StepDecision, value: unknown): Entry[] {
  const { place, node } = deciding.step
  const { step } = node
  switch (step.type) {
    case 'http':
    case 'api':
    case 'connector':
    case 'artifact':
    case 'publish':
    case 'workflow':
      return [{ kind: 'begun', place, input: value }]
    case 'transform':
    case 'stop':
      return completeStep(deciding, value)
    case 'fail': {
      const { message, details } = toFields(value)
      return failPermanently(deciding, 'failed_by_workflow', toText(message), details)
    }
    case 'branch': {
      const key = isTrue(value) ? 'then' : 'else'
      return chosen(deciding, key)
    }
    case 'switch':
      return chosen(deciding, findCase(value))
    case 'for_each':
      return iterated(deciding, value, step.maxItems)
    case 'wait':
      return wait(deciding, step, value)
    case 'approval':
      return awaitApproval(deciding, step, value)
    case 'parallel':
      return []
    default:
      return assertNever(step)
  }
}

/** The step completes if there is no such list. */
function chosen(deciding: StepDecision, key: string): Entry[] {
  const { place, node } = deciding.step
  if (node.lists.some((list) => list.key === key)) return [{ kind: 'chosen', place, list: key }]
  return [
    { kind: 'chosen', place, list: null },
    ...endRunAfter(deciding, { kind: 'completed', output: null }),
  ]
}

/** The first case that equals the value as JSON. */
function findCase(given: unknown): string {
  const { value, cases } = toFields(given)
  const wanted = canonicalJson(value)
  const index = Array.isArray(cases) ? cases.findIndex((each) => canonicalJson(each) === wanted) : -1
  return index < 0 ? 'default' : `cases[${index}]`
}

/** JSONata turns a list of one item into that item, and an empty list into nothing. */
function iterated(deciding: StepDecision, value: unknown, maxItems: number): Entry[] {
  const { place } = deciding.step
  const items: unknown[] = value === null || value === undefined ? [] : Array.isArray(value) ? value : [value]
  if (items.length > maxItems)
    return failPermanently(
      deciding,
      'too_many_items',
      `There are ${items.length} items; maxItems is ${maxItems}.`,
    )
  const entry = { kind: 'items', place, items } as const
  return [entry, ...(items.length === 0 ? endRunAfter(deciding, { kind: 'completed', output: [] }) : [])]
}
