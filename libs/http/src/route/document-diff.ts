import { canonicalJson, type DefinitionChange } from '@opsplane/contracts'
import { jsonPointer } from './validation.js'

/** Maximum changes returned: beyond that, two definitions have little in common. */
const maxChanges = 1_000

/**
 * Differences between two JSON documents, in the order of the second one. Items with ids are matched by id, so an
 * insertion at the front of a list does not change all others.
 */
export function diffDocuments(before: unknown, after: unknown): DefinitionChange[] {
  const changes: DefinitionChange[] = []
  compare(before, after, [], changes)
  return changes.slice(0, maxChanges)
}

type Path = readonly (string | number)[]

function compare(before: unknown, after: unknown, path: Path, changes: DefinitionChange[]): void {
  if (changes.length > maxChanges || canonicalJson(before) === canonicalJson(after)) return
  if (isObject(before) && isObject(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
      compare(before[key], after[key], [...path, key], changes)
    return
  }
  if (isNamed(before) && isNamed(after)) compareNamed(before, after, path, changes)
  else changes.push(change(before, after, path))
}

/** Each change has the item's new position, or the old one if it was removed. */
function compareNamed(before: Named[], after: Named[], path: Path, changes: DefinitionChange[]): void {
  const known = new Map(before.map((item, index) => [item.id, { item, index }]))
  for (const [index, item] of after.entries()) {
    compare(known.get(item.id)?.item, item, [...path, index], changes)
    known.delete(item.id)
  }
  for (const { item, index } of known.values()) changes.push(change(item, undefined, [...path, index]))
  const kept = (items: Named[], others: Named[]) =>
    items.filter(({ id }) => others.some((other) => other.id === id)).map(({ id }) => id)
  const [was, is] = [kept(before, after), kept(after, before)]
  if (was.join() !== is.join())
    changes.push({ path: jsonPointer(path), kind: 'changed', before: was, after: is })
}

function change(before: unknown, after: unknown, path: Path): DefinitionChange {
  const kind = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed'
  // Documents are JSON.
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

const isNamed = (value: unknown): value is Named[] =>
  Array.isArray(value) && value.every((item) => isObject(item) && typeof item.id === 'string')
