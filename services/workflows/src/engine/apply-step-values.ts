import { assertNever, canonicalJson } from '@opsplane/contracts'
import type { Evaluated, ExpressionError } from '@opsplane/sandbox'
import type { Entry } from './history.js'
import { completeStep, endRunAfter, failPermanently, type StepDecision } from './outcomes.js'
import { findPin } from './rows.js'
import { isTrue, toFields, toText } from './values.js'
import { awaitApproval, wait } from './waits.js'

/** Decides on a step's evaluated values: the step completes, or starts its effect. */
export function applyStepValues(context: StepDecision, values: readonly Evaluated[]): Entry[] {
  const pin = findPin(context.program, context.step)
  if (pin) return completeStep(context, pin.output)
  const [result] = values
  if (result === undefined) return []
  return result.ok ? continueStep(context, result.value) : failOnExpression(context, result.error)
}

function failOnExpression(context: StepDecision, { code, message, ...where }: ExpressionError): Entry[] {
  return failPermanently(context, code, `An expression ${message}`, where)
}

function continueStep(context: StepDecision, value: unknown): Entry[] {
  const { place, node } = context.step
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
      return completeStep(context, value)
    case 'fail': {
      const { message, details } = toFields(value)
      return failPermanently(context, 'failed_by_workflow', toText(message), details)
    }
    case 'branch': {
      const key = isTrue(value) ? 'then' : 'else'
      return chosen(context, key)
    }
    case 'switch':
      return chosen(context, findCase(value))
    case 'for_each':
      return iterated(context, value, step.maxItems)
    case 'wait':
      return wait(context, step, value)
    case 'approval':
      return awaitApproval(context, step, value)
    case 'parallel':
      return []
    default:
      return assertNever(step)
  }
}

/** The step completes if there is no such list. */
function chosen(context: StepDecision, key: string): Entry[] {
  const { place, node } = context.step
  if (node.lists.some((list) => list.key === key)) return [{ kind: 'chosen', place, list: key }]
  return [{ kind: 'chosen', place, list: null }, ...endRunAfter(context, { kind: 'completed', output: null })]
}

/** The first case that equals the value as JSON. */
function findCase(evaluated: unknown): string {
  const { value, cases } = toFields(evaluated)
  const valueJson = canonicalJson(value)
  const index = Array.isArray(cases) ? cases.findIndex((each) => canonicalJson(each) === valueJson) : -1
  return index < 0 ? 'default' : `cases[${index}]`
}

/** JSONata turns a list of one item into that item, and an empty list into nothing. */
function iterated(context: StepDecision, value: unknown, maxItems: number): Entry[] {
  const { place } = context.step
  const items: unknown[] = value === null || value === undefined ? [] : Array.isArray(value) ? value : [value]
  if (items.length > maxItems)
    return failPermanently(
      context,
      'too_many_items',
      `There are ${items.length} items; maxItems is ${maxItems}.`,
    )
  const entry = { kind: 'items', place, items } as const
  return [entry, ...(items.length === 0 ? endRunAfter(context, { kind: 'completed', output: [] }) : [])]
}
