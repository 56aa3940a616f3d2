import type { PromotedDefinition } from '@opsplane/contracts'
import { buildParts } from '../table/table-sql.js'
import type { ReadDefinition } from './read-definition.js'
import type { TableShape } from './shape.js'

/**
 * Merges the definition of a promoted change into the definition of the table here: parts of the promoted one are used
 * if they exist in this table, and parts that exist only here stay as read.
 */
export function mergePromotedDefinition(
  promoted: PromotedDefinition,
  found: ReadDefinition,
  shape: TableShape,
): ReadDefinition {
  const present = new Set([...shape.columns, ...shape.constraints, ...shape.indexes].map(({ name }) => name))
  const { constraints, indexes } = buildParts({ schema: '', slug: promoted.slug }, promoted)
  const promotedNames = new Set([
    ...promoted.columns.map(({ name }) => name),
    ...constraints.keys(),
    ...indexes.keys(),
  ])
  const merged = <Part extends { name: string }>(here: readonly Part[], there: readonly Part[]): Part[] => [
    ...there.filter(({ name }) => present.has(name)),
    ...here.filter(({ name }) => !promotedNames.has(name)),
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
