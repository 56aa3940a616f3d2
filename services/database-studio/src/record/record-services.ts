import type { Database } from '@opsplane/postgres'
import type { CursorCodec } from '@opsplane/runtime'
import type { DataPlane } from '../plane/data-plane.js'
import { createBatch } from './batch.js'
import { type Bulk, createBulk } from './bulk.js'
import { createRecordList } from './list.js'
import { createRecordAccess, type Definitions } from './open.js'
import { createPast, type Past } from './past.js'
import { createRecords, type Records } from './records.js'

/** Everything the routes of records call. */
export interface RecordServices {
  records: Records
  list: ReturnType<typeof createRecordList>
  bulk: Bulk
  batch: ReturnType<typeof createBatch>
  past: Past
}

export function createRecordServices({
  plane,
  definitions,
  database,
  cursors,
}: {
  plane: DataPlane
  definitions: Definitions
  database: Database
  cursors: CursorCodec
}): RecordServices {
  const access = createRecordAccess({ plane, definitions })
  return {
    records: createRecords(access),
    list: createRecordList({ access, cursors }),
    bulk: createBulk(access),
    batch: createBatch(access),
    past: createPast({ access, sql: database.sql, cursors }),
  }
}
