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

/** The tables of a space by the catalogue, compared with their definitions. */
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

/** Tables by id as they are now: all that are captured in a space. */
export const parseShapes = (shapes: unknown) => Shapes.parse(shapes)

/** Definitions of a tenant that are in use, with the shapes their tables had when they were written. */
export async function knownTables(tx: StatementRunner, { workspaceId, environment }: TenantScope) {
  const rows = await tx.unsafe(
    `select t.id, t.state, s.shape from tables t left join table_shapes s on s.table_id = t.id
     where t.workspace_id = $1 and t.environment = $2 and t.purge_at is null order by t.id`,
    [workspaceId, environment],
  )
  // The state was written as one, which types it.
  return z
    .array(Known)
    .parse([...rows])
    .map(({ state, ...row }) => ({ ...row, state: state as unknown as TableState }))
}
export type KnownTable = Awaited<ReturnType<typeof knownTables>>[number]

/**
 * What has become of a tenant's tables, by their shapes now. `promoted` is what one of them has become elsewhere, or was before,
 * and is to be here; `inTrash` are those that a migration has dropped.
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

/** Every slug that means something else than before. */
export const listSlugs = ({ created, updated, deleted }: TableChanges): string[] => [
  ...[...created, ...updated].map(({ found }) => found.slug),
  ...[...updated, ...deleted].map(({ slug }) => slug),
]

/** Whether a definition says nothing of a column, as those did that were written before there was a type for it. */
const leavesOut = ({ columns }: TableState, shape: TableShape): boolean =>
  shape.columns.length > columns.length + Object.keys(baseColumns).length

export const sameShape = (one: TableShape, other: TableShape): boolean =>
  stringifyExact(one) === stringifyExact(other)

/** Writes what has become of tables into their definitions. Returns whether any changed. */
export async function defineTables(
  unit: Unit,
  tables: TableAggregate,
  { created, updated, deleted }: TableChanges,
  now: string,
): Promise<void> {
  // Names are free before they are taken.
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
