import type { Limits } from '@opsplane/runtime'
import type { ServiceContext } from '@opsplane/service'
import type { DataPlane } from '../data-plane/data-plane.js'
import type { Definitions } from '../data-plane/definitions.js'
import type { CheckSpaceQuota } from '../data-plane/space-quota.js'
import { createRecordList } from '../list/list.js'
import { createRecordHistory, type RecordHistory } from '../list/record-history.js'
import { createBatch } from '../record/batch.js'
import { type Bulk, createBulk } from '../record/bulk.js'
import { createRecords, type Records } from '../record/records.js'
import { createRecordAccess } from '../row/record-access.js'
import { createExport } from '../transfer/export.js'
import { createImportStore } from '../transfer/import-store.js'
import { importWork } from '../transfer/import-work.js'
import { createImports, type Imports } from '../transfer/imports.js'
import type { RecordValidator } from '../validation/record-validator.js'

/** Services called by the routes of records. */
export interface RecordServices {
  records: Records
  list: ReturnType<typeof createRecordList>
  bulk: Bulk
  batch: ReturnType<typeof createBatch>
  past: RecordHistory
  imports: Imports
  exported: ReturnType<typeof createExport>
}

/** Also starts processing waiting imports. */
export function createRecordServices(
  {
    database,
    cursors,
    dueWork,
    clock,
    log,
  }: Pick<ServiceContext, 'database' | 'cursors' | 'dueWork' | 'clock' | 'log'>,
  {
    plane,
    definitions,
    validating,
    limits,
    refuseFull,
  }: {
    plane: DataPlane
    definitions: Definitions
    validating: RecordValidator
    limits: Limits
    refuseFull: CheckSpaceQuota
  },
): RecordServices {
  const access = createRecordAccess({ plane, definitions, sql: database.sql, refuseFull })
  const store = createImportStore(database, limits)
  const importing = dueWork.start(
    importWork({
      ...{ access, validating, store, sql: database.sql, now: () => clock.now(), log },
      goOn: () => importing.wake(),
    }),
  )
  return {
    records: createRecords(access, validating),
    list: createRecordList({ access, cursors }),
    bulk: createBulk(access, validating),
    batch: createBatch(access, validating),
    past: createRecordHistory({ access, sql: database.sql, cursors }),
    imports: createImports({ access, store, wake: () => importing.wake() }),
    exported: createExport(access),
  }
}
