import type { DependentsOfKind } from '@opsplane/service'

/** Imports in progress, which run under the row rules of the importing user. */
export const dependentImports: DependentsOfKind = {
  kind: 'import',
  query: `select id, table_slug as name, environment from record_imports
    where workspace_id = $1 and principal->>'userId' = $2 and status in ('uploading', 'pending') order by id`,
  takeOver: () => null,
}
