import type { PromotedDefinition } from '@opsplane/contracts'
import { buildParts } from '../table/table-sql.js'
import type { ReadDefinition } from './read-definition.js'
import type { TableShape } from './shape.js'

/**
 * The definition of a table that a promoted change was made of elsewhere, as far as the table here is like it; what only the one
 * here has stays as it was read.
 */
export function mergePromotedDefinition(
  promoted: PromotedDefinition,
  found: ReadDefinition,
  shape: TableShape,
): ReadDefinition {
  const present = new Set([...shape.columns, ...shape.constraints, ...shape.indexes].map(({ name }) => name))
  const { constraints, indexes } = buildParts({ schema: '', slug: promoted.slug }, promoted)
  const said = new Set([
    ...promoted.columns.map(({ name }) => name),
    ...constraints.keys(),
    ...indexes.keys(),
  ])
  const merged = <Part extends { name: string }>(here: readonly Part[], there: readonly Part[]): Part[] => [
    ...there.filter(({ name }) => present.has(name)),
    ...here.filter(({ name }) => !said.has(name)),
  ]
  return {
    slug: found.slug,
    description: promoted.description,
    columns: merged(found.columns, promoted.columns),
    indexes: merged(found.indexes, promoted.indexes),
    uniques: merged(found.uniques, promoted.uniques),
    checks: merged(found.checks, promoted.checks),
    unmanaged: found.unmanaged,
  }
}
