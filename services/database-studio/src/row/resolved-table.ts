import type { Principal, StudioRecord, Table, TenantScope } from '@opsplane/contracts'
import type { TableValidation } from '../data-plane/definitions.js'
import type { Space } from '../data-plane/space.js'
import type { Condition } from './filter.js'

/** The table of a request, with the rules on what the caller may read and write. */
export interface ResolvedTable {
  space: Space
  table: Table
  readRule: readonly Condition[]
  writeRule: readonly Condition[]
  /** Validations of its records; empty for most tables. */
  validations: readonly TableValidation[]
}

/** A record as returned by a statement: the API representation plus marks. */
export type Row = StudioRecord

/** The caller and the tenant of a request. */
export interface Caller {
  tenant: TenantScope
  principal: Principal
}
