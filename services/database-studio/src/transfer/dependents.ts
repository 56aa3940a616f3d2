import type { DependentsOfKind } from '@opsplane/service'

/** Files of records on their way into a table, under the rules that bind the importing user. */
export const dependentImports: DependentsOfKind = {
  kind: 'import',
  query: `select id, table_slug as name, environment from record_imports
    where workspace_id = $1 and principal->>'userId' = $2 and status in ('uploading', 'pending') order by id`,
  takeOver: () => null,
}
