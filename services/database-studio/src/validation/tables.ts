import { index, integer, pgTable, text } from 'drizzle-orm/pg-core'

/** Validations of the sdk by artifact, with the tables they apply to. A removed validation has no tables. */
export const recordValidations = pgTable(
  'record_validations',
  {
    artifactId: text('artifact_id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    /** Version of the artifact. */
    version: integer('version').notNull(),
    tables: text('tables').array().notNull(),
    operations: text('operations').array().notNull(),
    whenUnavailable: text('when_unavailable').notNull(),
  },
  (table) => [index('record_validations_tenant_idx').on(table.workspaceId, table.environment)],
)
