import { canonicalJson, type DefinitionChange } from '@opsplane/contracts'
import { jsonPointer } from '@opsplane/http'

/** So many are shown: beyond that two definitions have little in common. */
const mostChanges = 1_000

/**
 * What differs between two definitions, in the order of the second one. Lists of steps are compared by the ids of their steps,
 * so that a step put in front does not change all the others.
 */
export function diffOf(before: unknown, after: unknown): DefinitionChange[] {
  const changes: DefinitionChange[] = []
  compare(before, after, [], changes)
  return changes.slice(0, mostChanges)
}

type Path = readonly (string | number)[]

function compare(before: unknown, after: unknown, path: Path, changes: DefinitionChange[]): void {
  if (changes.length > mostChanges || canonicalJson(before) === canonicalJson(after)) return
  if (isObject(before) && isObject(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
      compare(before[key], after[key], [...path, key], changes)
    return
  }
  if (isSteps(before) && isSteps(after)) compareSteps(before, after, path, changes)
  else changes.push(change(before, after, path))
}

/** A step is where it stands afterwards; one that is gone, where it stood. */
function compareSteps(before: Named[], after: Named[], path: Path, changes: DefinitionChange[]): void {
  const known = new Map(before.map((step, index) => [step.id, { step, index }]))
  for (const [index, step] of after.entries()) {
    compare(known.get(step.id)?.step, step, [...path, index], changes)
    known.delete(step.id)
  }
  for (const { step, index } of known.values()) changes.push(change(step, undefined, [...path, index]))
  const kept = (steps: Named[], others: Named[]) =>
    steps.filter(({ id }) => others.some((other) => other.id === id)).map(({ id }) => id)
  const [was, is] = [kept(before, after), kept(after, before)]
  if (was.join() !== is.join())
    changes.push({ path: jsonPointer(path), kind: 'changed', before: was, after: is })
}

function change(before: unknown, after: unknown, path: Path): DefinitionChange {
  const kind = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed'
  // Definitions are JSON.
  const value = (side: unknown) => side as NonNullable<DefinitionChange['before']>
  return {
    path: jsonPointer(path),
    kind,
    ...(before !== undefined && { before: value(before) }),
    ...(after !== undefined && { after: value(after) }),
  }
}

type Named = { id: string }

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isSteps = (value: unknown): value is Named[] =>
  Array.isArray(value) && value.every((item) => isObject(item) && typeof item.id === 'string')
