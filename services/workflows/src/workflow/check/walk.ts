import type { Step, WorkflowDefinition } from '@opsplane/contracts'

export type Path = readonly (string | number)[]

/** A list of steps in a step, with its location. */
export interface StepList {
  /** Name of the list, such as `then` or `cases.0`. */
  name: string
  path: Path
  steps: readonly Step[]
}

/** A step with its location in the definition. */
export interface Visit {
  step: Step
  path: Path
  /** 1 for top-level steps. */
  depth: number
}

/** The lists of steps in a step, in source order. */
export function findStepLists(step: Step): StepList[] {
  switch (step.type) {
    case 'branch':
      return [
        { name: 'then', path: ['then'], steps: step.then },
        ...(step.else ? [{ name: 'else', path: ['else'], steps: step.else }] : []),
      ]
    case 'switch':
      return [
        ...step.cases.map(({ steps }, index) => ({
          name: `cases.${index}`,
          path: ['cases', index, 'steps'],
          steps,
        })),
        ...(step.default ? [{ name: 'default', path: ['default'], steps: step.default }] : []),
      ]
    case 'parallel':
      return step.branches.map(({ name, steps }, index) => ({
        name,
        path: ['branches', index, 'steps'],
        steps,
      }))
    case 'for_each':
      return [{ name: 'steps', path: ['steps'], steps: step.steps }]
    default:
      return []
  }
}

/** All steps of a definition, each before those it contains. */
export function visitSteps({ steps, onFailure }: WorkflowDefinition): Visit[] {
  const found: Visit[] = []
  const visit = (list: readonly Step[], path: Path, depth: number): void => {
    for (const [index, step] of list.entries()) {
      const at = [...path, index]
      found.push({ step, path: at, depth })
      for (const inner of findStepLists(step)) visit(inner.steps, [...at, ...inner.path], depth + 1)
    }
  }
  visit(steps, ['steps'], 1)
  if (onFailure) visit(onFailure, ['onFailure'], 1)
  return found
}
