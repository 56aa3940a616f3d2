import { type Column, invalidField, type TablePatch, type TableState, tableLimits } from '@opsplane/contracts'
import { nameParts } from './check-definition.js'

/** The resulting definition, and the previous names of renamed columns. */
export interface PatchedTable {
  after: TableState
  /** From new to previous name. */
  renamed: Map<string, string>
}

/** Applies a patch to a definition. Throws `validation_failed` if the patch refers to something that does not exist. */
export function applyPatch(before: TableState, patch: TablePatch): PatchedTable {
  const { columns, indexes, uniques, checks, slug = before.slug, name, description, rules } = patch
  const renamed = new Map<string, string>()
  const changes = new Map((columns?.change ?? []).map(({ name: from, to }) => [from, to]))
  const drops = new Set(columns?.drop)
  knows(before.columns, [...changes.keys()], '/columns/change')
  for (const [at, { name: from, to }] of (columns?.rename ?? []).entries()) {
    const column = before.columns.find((each) => each.name === from)
    if (!column)
      throw invalidField(`/columns/rename/${at}/name`, 'unknown', `There is nothing called ${from}.`)
    if (changes.has(from) || drops.has(from))
      throw invalidField(`/columns/rename/${at}/name`, 'duplicate', `The column ${from} is named twice.`)
    changes.set(from, { ...column, name: to })
  }
  knows(before.columns, [...drops], '/columns/drop')
  namesOnce(columns?.change ?? [], drops)
  const kept = before.columns.flatMap((column): Column[] => {
    if (drops.has(column.name)) return []
    const change = changes.get(column.name)
    if (!change) return [column]
    if (change.name !== column.name) renamed.set(change.name, column.name)
    return [change]
  })
  const now = new Map([...renamed].map(([to, from]) => [from, to]))
  const own = nameParts({ slug, indexes: indexes?.add ?? [], uniques: uniques?.add ?? [] })
  const remaining = <Part extends { name: string }>(
    parts: readonly Part[],
    change: { drop?: readonly string[] | undefined } | undefined,
    path: string,
  ) => {
    knows(parts, change?.drop ?? [], path)
    return parts.filter(({ name: part }) => !change?.drop?.includes(part))
  }
  // Parts that use only dropped columns are dropped as well; parts that also use others are reported as conflicts.
  const outlives = (of: readonly string[]) => !of.every((column) => drops.has(column))
  const after = {
    ...before,
    slug,
    name: name ?? (before.name === before.slug ? slug : before.name),
    description: description ?? before.description,
    rules: rules ?? before.rules,
    columns: [...kept, ...(columns?.add ?? [])].map((column) =>
      // A reference of the table to itself follows the new slug.
      column.type === 'reference' && column.table === before.slug ? { ...column, table: slug } : column,
    ),
    indexes: [
      ...remaining(before.indexes, indexes, '/indexes/drop')
        .filter((index) => outlives(index.columns.map((column) => column.name)))
        .map((index) => ({
          ...index,
          columns: index.columns.map((column) => ({
            ...column,
            name: now.get(column.name) ?? column.name,
          })),
        })),
      ...own.indexes,
    ],
    uniques: [
      ...remaining(before.uniques, uniques, '/uniques/drop')
        .filter((unique) => outlives(unique.columns))
        .map((unique) => ({
          ...unique,
          columns: unique.columns.map((column) => now.get(column) ?? column),
        })),
      ...own.uniques,
    ],
    checks: [...remaining(before.checks, checks, '/checks/drop'), ...(checks?.add ?? [])],
  }
  keepsLimits(before, after)
  return { renamed, after }
}

function knows(parts: readonly { name: string }[], names: readonly string[], path: string): void {
  for (const [at, name] of names.entries())
    if (!parts.some((part) => part.name === name))
      throw invalidField(`${path}/${at}`, 'unknown', `There is nothing called ${name}.`)
}

function namesOnce(changes: readonly { name: string }[], drops: ReadonlySet<string>): void {
  const seenNames = new Set(drops)
  for (const [at, { name }] of changes.entries()) {
    if (seenNames.has(name))
      throw invalidField(`/columns/change/${at}/name`, 'duplicate', `The column ${name} is named twice.`)
    seenNames.add(name)
  }
}

/** A table that a migration has taken past a limit can still be changed, as long as the count does not grow. */
function keepsLimits(before: TableState, after: TableState): void {
  for (const list of ['columns', 'indexes', 'uniques', 'checks'] as const) {
    const maxCount = tableLimits[list]
    if (after[list].length > Math.max(maxCount, before[list].length))
      throw invalidField(`/${list}/add`, 'too_big', `A table has at most ${maxCount} ${list}.`)
  }
}
