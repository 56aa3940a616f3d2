import { type BuildColumns, type BuildExtraConfigColumns, sql } from 'drizzle-orm'
import {
  integer,
  json,
  type PgColumnBuilderBase,
  type PgTableExtraConfigValue,
  type PgTableWithColumns,
  pgTable,
  text,
} from 'drizzle-orm/pg-core'

/** A text column computed from the row's state, to filter and sort by. ISO timestamps sort correctly as text. */
export function stateText<Name extends string>(column: Name, field: string) {
  return text(column).generatedAlwaysAs(sql.raw(`state->>'${field}'`))
}

/** An integer column computed from the row's state. */
export function stateInteger<Name extends string>(column: Name, field: string) {
  return integer(column).generatedAlwaysAs(sql.raw(`(state->>'${field}')::integer`))
}

const baseColumns = {
  id: text('id').primaryKey(),
  workspaceId: text('workspace_id').notNull(),
  environment: text('environment').notNull(),
  version: integer('version').notNull(),
  state: json('state').$type<Record<string, unknown>>().notNull(),
  createdAt: stateText('created_at', 'createdAt'),
}
type WithBase<Columns> = typeof baseColumns & Columns

/** An explicit type, because the declaration the compiler infers loses drizzle's type parameters. */
type ReadModelTable<
  Name extends string,
  Columns extends Record<string, PgColumnBuilderBase>,
> = PgTableWithColumns<{
  name: Name
  schema: undefined
  columns: BuildColumns<Name, WithBase<Columns>, 'pg'>
  dialect: 'pg'
}>

/**
 * A read-model table: the aggregate's folded state plus generated columns. Only the event store writes rows, which
 * is why all tables have the same base columns.
 */
export function readModelTable<Name extends string, Columns extends Record<string, PgColumnBuilderBase>>(
  name: Name,
  columns: Columns,
  indexes: (
    table: BuildExtraConfigColumns<Name, WithBase<Columns>, 'pg'>,
  ) => PgTableExtraConfigValue[] = () => [],
): ReadModelTable<Name, Columns> {
  return pgTable<Name, WithBase<Columns>>(name, { ...baseColumns, ...columns }, indexes)
}
