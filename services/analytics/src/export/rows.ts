import type { ResultColumn } from '@opsplane/contracts'
import type { ServiceClient } from '@opsplane/http'
import type { OpenedRows, QueryCaller, QueryRunner } from '../query/types.js'
import type { PlannedRows } from './plan.js'
import { openRecordRows } from './record-rows.js'

export interface OpenOptions {
  /** Cursor of the same rows after which reading continues. */
  after?: string
  /** The columns the file was started with. */
  columns?: readonly ResultColumn[]
  now: string
  signal: AbortSignal
}

export type OpenRows = (caller: QueryCaller, rows: PlannedRows, options: OpenOptions) => Promise<OpenedRows>

/** Opens the source of an export with the rights of its owner. */
export function createOpenRows({
  runner,
  studio,
}: {
  runner: Pick<QueryRunner, 'openRows'>
  studio: Pick<ServiceClient, 'get' | 'stream'>
}): OpenRows {
  return (caller, rows, options) => {
    const { after, signal } = options
    const behind = { ...(after !== undefined && { after }), signal }
    if ('records' in rows) return openRecordRows(studio, caller, rows.records, options)
    return runner.openRows(
      caller,
      'facts' in rows ? { kind: 'facts', query: rows.facts } : { kind: 'query', query: rows.query },
      behind,
    )
  }
}
