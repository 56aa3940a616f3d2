import {
  baseColumns,
  type PromotedDefinition,
  stringifyExact,
  type TableState,
  type TenantScope,
} from '@opsplane/contracts'
import type { Unit } from '@opsplane/eventstore'
import type { StatementRunner } from '@opsplane/postgres'
import { z } from 'zod'
import type { TableAggregate } from '../table/tables.js'
import { computePurgeTime } from '../table/trash.js'
import { mergePromotedDefinition } from './promoted-definition.js'
import { type ReadDefinition, readDefinition } from './read-definition.js'
import { TableShape } from './shape.js'

/** Differences between the tables of a space in the catalogue and their definitions. */
export interface TableChanges {
  created: { id: string; found: ReadDefinition; like: PromotedDefinition | null }[]
  updated: { id: string; slug: string; found: ReadDefinition; like: PromotedDefinition | null }[]
  deleted: { id: string; slug: string; inTrash: boolean }[]
}

const Shapes = z.record(z.string(), TableShape)
const Known = z.object({
  id: z.string(),
  state: z.record(z.string(), z.unknown()),
  shape: TableShape.nullable(),
})

/** The current shapes of all captured tables of a space, by id. */
export const parseShapes = (shapes: unknown) => Shapes.parse(shapes)

/** Definitions of a tenant that are in use, with the shapes of their tables when they were written. */
export async function knownTables(tx: StatementRunner, { workspaceId, environment }: TenantScope) {
  const rows = await tx.unsafe(
    `select t.id, t.state, s.shape from tables t left join table_shapes s on s.table_id = t.id
     where t.workspace_id = $1 and t.environment = $2 and t.purge_at is null order by t.id`,
    [workspaceId, environment],
  )
  // The stored state was written as this type.
  return z
    .array(Known)
    .parse([...rows])
    .map(({ state, ...row }) => ({ ...row, state: state as unknown as TableState }))
}
export type KnownTable = Awaited<ReturnType<typeof knownTables>>[number]

/**
 * Compares a tenant's tables with their current shapes. `promoted` is the definition that one of them should get here,
 * from another environment or from before a rollback; `inTrash` are the tables that a migration dropped.
 */
export function tableChanges(
  known: readonly KnownTable[],
  shapes: Readonly<Record<string, TableShape>>,
  {
    promoted = null,
    inTrash = new Set(),
  }: { promoted?: PromotedDefinition | null; inTrash?: ReadonlySet<string> } = {},
): TableChanges {
  const definitions = new Map(known.map((table) => [table.id, table]))
  const changes: TableChanges = { created: [], updated: [], deleted: [] }
  for (const [id, shape] of Object.entries(shapes)) {
    const table = definitions.get(id)
    const like = promoted?.slug === shape.name ? promoted : null
    const over = (found: ReadDefinition) => (like ? mergePromotedDefinition(like, found, shape) : found)
    if (!table) changes.created.push({ id, found: over(readDefinition(shape)), like })
    else if (table.shape && (like || !sameShape(table.shape, shape) || leavesOut(table.state, shape))) {
      const found = readDefinition(shape, { definition: table.state, shape: table.shape })
      changes.updated.push({ id, slug: table.state.slug, found: over(found), like })
    }
  }
  for (const { id, state } of known)
    if (!(id in shapes)) changes.deleted.push({ id, slug: state.slug, inTrash: inTrash.has(id) })
  return changes
}

/** All slugs whose meaning has changed. */
export const listSlugs = ({ created, updated, deleted }: TableChanges): string[] => [
  ...[...created, ...updated].map(({ found }) => found.slug),
  ...[...updated, ...deleted].map(({ slug }) => slug),
]

/** Whether a definition omits a column, as definitions did that were written before its type was supported. */
const leavesOut = ({ columns }: TableState, shape: TableShape): boolean =>
  shape.columns.length > columns.length + Object.keys(baseColumns).length

export const sameShape = (one: TableShape, other: TableShape): boolean =>
  stringifyExact(one) === stringifyExact(other)

/** Writes the changes of tables to their definitions. Returns whether any changed. */
export async function defineTables(
  unit: Unit,
  tables: TableAggregate,
  { created, updated, deleted }: TableChanges,
  now: string,
): Promise<void> {
  // Deletes first, so that names are free before they are reused.
  for (const { id, inTrash } of deleted) {
    await unit.handle(tables, id, { kind: 'delete', purgeAt: inTrash ? computePurgeTime(now) : now, now })
    if (!inTrash) await unit.handle(tables, id, { kind: 'purge' })
  }
  for (const { id, found, like } of updated) {
    const { unmanaged: _, ...defined } = found
    const to = { ...defined, ...(like && { name: like.name, rules: like.rules }) }
    await unit.handle(tables, id, { kind: 'change', to, now })
  }
  for (const { id, found, like } of created) {
    const { unmanaged: _, ...defined } = found
    await unit.create(tables, id, {
      kind: 'create',
      id,
      fields: { ...defined, name: like?.name ?? defined.slug, rules: like?.rules ?? [] },
      now,
    })
  }
}
