import type { Step, WorkflowDefinition } from '@opsplane/contracts'
import { type Path, visitSteps } from './walk.js'

/** A value whose strings may contain `{{ expression }}`. */
export interface TemplateField {
  /** `null` for templates of the workflow itself. */
  step: string | null
  path: Path
  value: unknown
}

/** The template fields of each type of step. */
const listFields: { readonly [Type in Step['type']]: readonly string[] } = {
  http: ['url', 'headers', 'query', 'body'],
  api: ['params', 'query', 'body'],
  connector: ['input'],
  artifact: ['input'],
  publish: ['eventType', 'payload', 'deduplicationKey'],
  transform: ['value'],
  workflow: ['input'],
  wait: ['seconds', 'until'],
  approval: ['title', 'message', 'data'],
  branch: ['if'],
  switch: ['value'],
  parallel: [],
  for_each: ['items'],
  stop: ['output'],
  fail: ['message', 'details'],
}

/** All values of a definition that are evaluated in a run. */
export function templateFields(definition: WorkflowDefinition): TemplateField[] {
  const ofSteps = visitSteps(definition).flatMap(({ step, path }) => {
    const values: Readonly<Record<string, unknown>> = { ...step }
    const fields = listFields[step.type].map((name) => ({
      step: step.id,
      path: [...path, name],
      value: values[name],
    }))
    return [...fields, ...innerFields(step, path)]
  })
  const { output, concurrency } = definition
  return [
    ...ofSteps,
    { step: null, path: ['output'], value: output },
    { step: null, path: ['concurrency', 'key'], value: concurrency?.key },
  ].filter(({ value }) => value !== undefined)
}

function innerFields(step: Step, path: Path): TemplateField[] {
  if (step.type === 'approval')
    return [{ step: step.id, path: [...path, 'approvers', 'users'], value: step.approvers.users }]
  if (step.type === 'wait' && step.event?.filter)
    return [{ step: step.id, path: [...path, 'event', 'filter'], value: step.event.filter }]
  return []
}

/** Whether a text contains expressions. */
export const isTemplate = (text: string): boolean => text.includes('{{')
