import { stringifyExact } from '@opsplane/contracts'
import { z } from 'zod'

const ShapeColumn = z.object({
  name: z.string(),
  type: z.string(),
  values: z.array(z.string()).nullable(),
  notNull: z.boolean(),
  default: z.string().nullable(),
  generated: z.boolean(),
  identity: z.boolean(),
  comment: z.string().nullable(),
})
export type ShapeColumn = z.infer<typeof ShapeColumn>

const ShapeConstraint = z.object({
  name: z.string(),
  /** Primary key, unique, foreign key, check, exclusion. */
  type: z.enum(['p', 'u', 'f', 'c', 'x']),
  columns: z.array(z.string()),
  definition: z.string(),
  expression: z.string().nullable(),
  references: z.string().nullable(),
  /** Columns of the other table that a foreign key refers to. */
  referred: z.array(z.object({ name: z.string(), type: z.string() })).nullish(),
  onDelete: z.string(),
})
export type ShapeConstraint = z.infer<typeof ShapeConstraint>

const ShapeIndex = z.object({
  name: z.string(),
  definition: z.string(),
  unique: z.boolean(),
  valid: z.boolean(),
  method: z.string(),
  /** True if the index is on columns only, without expressions, and not partial. */
  plain: z.boolean(),
  trigram: z.boolean(),
  columns: z.array(z.object({ name: z.string().nullable(), descending: z.boolean() })),
})
export type ShapeIndex = z.infer<typeof ShapeIndex>

/** A table as described by the Postgres catalogue; `table_shape` in `sql/` produces it. */
export const TableShape = z.object({
  oid: z.number(),
  name: z.string(),
  comment: z.string().nullable(),
  columns: z.array(ShapeColumn),
  constraints: z.array(ShapeConstraint),
  indexes: z.array(ShapeIndex),
  triggers: z.array(z.object({ name: z.string(), enabled: z.string(), call: z.string() })),
})
export type TableShape = z.infer<typeof TableShape>

export const emptyShape: TableShape = {
  ...{ oid: 0, name: '', comment: null, columns: [], constraints: [], indexes: [], triggers: [] },
}

export interface Difference<T> {
  added: T[]
  removed: T[]
  /** Pairs of the state before and after. */
  changed: [T, T][]
}

/** The differences of two lists, compared by name. */
export function difference<T extends { name: string }>(
  before: readonly T[],
  after: readonly T[],
): Difference<T> {
  const old = new Map(before.map((part) => [part.name, part]))
  const names = new Set(after.map(({ name }) => name))
  const changed = after.flatMap((part): [T, T][] => {
    const was = old.get(part.name)
    return was && stringifyExact(was) !== stringifyExact(part) ? [[was, part]] : []
  })
  return {
    added: after.filter(({ name }) => !old.has(name)),
    removed: before.filter(({ name }) => !names.has(name)),
    changed,
  }
}
