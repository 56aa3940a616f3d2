import type { Step, WorkflowDefinition } from '@opsplane/contracts'
import type { Place } from '../history.js'

/** Containers around a step, outermost first, each with the list that contains the step. */
export type Path = { id: string; type: Step['type']; list: string }[]

/** The lists directly in a step, by name. */
export function listsIn(step: Step): [string, Step[]][] {
  if (step.type === 'branch')
    return [['then', step.then], ...(step.else ? [['else', step.else] as [string, Step[]]] : [])]
  if (step.type === 'switch') {
    const cases = step.cases.map(({ steps }, index): [string, Step[]] => [`cases[${index}]`, steps])
    return step.default ? [...cases, ['default', step.default]] : cases
  }
  if (step.type === 'parallel') return step.branches.map(({ name, steps }) => [name, steps])
  return step.type === 'for_each' ? [['steps', step.steps]] : []
}

export function findPaths(steps: readonly Step[], path: Path = []): Map<string, Path> {
  return new Map(
    steps.flatMap((step) => [
      [step.id, path] as const,
      ...listsIn(step).flatMap(([list, inner]) => [
        ...findPaths(inner, [...path, { id: step.id, type: step.type, list }]),
      ]),
    ]),
  )
}

/** The place of another step as seen from a place; `null` if it is not visible from there. */
export function findVisiblePlace(other: string, from: Place, paths: Map<string, Path>): Place | null {
  const [id = '', ...rounds] = from.split('[')
  const around = paths.get(id) ?? []
  let suffix = ''
  for (const container of paths.get(other) ?? []) {
    const same = around.find((each) => each.id === container.id)
    if (container.type === 'for_each' && !same) return null
    if (container.type === 'parallel' && same && same.list !== container.list) return null
    if (container.type === 'for_each') suffix += `[${rounds.shift()}`
  }
  return other + suffix
}

/** Ids of steps that a condition reads, directly or through transforms. */
export function findConditionReads(definition: WorkflowDefinition): Set<string> {
  const steps = [...definition.steps, ...(definition.onFailure ?? [])]
  const all = steps.flatMap(function inner(step: Step): Step[] {
    return [step, ...listsIn(step).flatMap(([, list]) => list.flatMap(inner))]
  })
  const readIn = (value: unknown) =>
    [...JSON.stringify(value).matchAll(/steps\.(\w+)/g)].map(([, id = '']) => id)
  let found = all.flatMap((step) =>
    step.type === 'branch' ? readIn(step.if) : step.type === 'switch' ? readIn(step.value) : [],
  )
  const judged = new Set<string>()
  while (found.length > 0) {
    const fresh = found.filter((id) => !judged.has(id))
    for (const id of fresh) judged.add(id)
    found = all.flatMap((step) =>
      step.type === 'transform' && fresh.includes(step.id) ? readIn(step.value) : [],
    )
  }
  return judged
}
