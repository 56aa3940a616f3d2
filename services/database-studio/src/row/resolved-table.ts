import type { Principal, StudioRecord, Table, TenantScope } from '@opsplane/contracts'
import type { TableValidation } from '../data-plane/definitions.js'
import type { Space } from '../data-plane/space.js'
import type { Condition } from './filter.js'

/** A table a request is about, with what the caller may see and change of it. */
export interface ResolvedTable {
  space: Space
  table: Table
  readRule: readonly Condition[]
  writeRule: readonly Condition[]
  /** Of its records; none of most tables. */
  validations: readonly TableValidation[]
}

/** A record as a statement answers it: as the API shows it, with marks. */
export type Row = StudioRecord

/** Who asks, and where. */
export interface Caller {
  tenant: TenantScope
  principal: Principal
}
