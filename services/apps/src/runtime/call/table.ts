import {
  ApiError,
  type Filter,
  notFound,
  pageBounds,
  type SourceBinding,
  StudioRecord,
  stringifyExact,
  type TableOperation,
} from '@opsplane/contracts'
import { CallFailure, jsonPointer, validationFailed } from '@opsplane/http'
import { sha256Hex } from '@opsplane/runtime'
import { z } from 'zod'
import {
  applyFilterValues,
  combineFilters,
  evaluateFilter,
  type RowFilter,
  toSearchFilter,
} from '../filters.js'
import {
  type CallParts,
  callOperation,
  evaluateTemplates,
  type RowAction,
  type Shown,
  type SourceCall,
} from './source-call.js'

type TableBinding = Extract<SourceBinding, { kind: 'table' }>
type Operation = z.infer<typeof TableOperation>

const Pagination = z.object({ nextCursor: z.string().nullable() })
const Batch = z.object({ results: z.array(z.object({ record: StudioRecord.nullable() })) })

/** The rows a table source lists. */
export async function listRows(
  parts: CallParts,
  call: SourceCall,
  binding: TableBinding,
  cursor: string | undefined,
): Promise<Shown> {
  requireOperation(binding, 'list')
  const { filter, search } = await filtersOf(parts, call, binding)
  const answer = await callOperation(parts, call, 'listRecords', {
    params: { slug: binding.table },
    query: {
      ...shownFields(binding),
      filter: stringifyExact(combineFilters([...filter, search])),
      sort: binding.sort,
      limit: Math.min(binding.limit, pageBounds.items),
      after: cursor,
    },
  })
  return {
    rows: z.array(StudioRecord).parse(answer.data),
    value: null,
    nextCursor: Pagination.parse(answer.pagination).nextCursor,
  }
}

/** Performs an action on a row. Only rows that pass the filters can be changed. */
export async function actOnRow(
  parts: CallParts,
  call: SourceCall,
  binding: TableBinding,
  { operation = 'create', id, values, version }: RowAction,
): Promise<unknown> {
  requireOperation(binding, operation)
  if (operation === 'create') return createRow(parts, call, binding, values)
  if (id === undefined)
    throw validationFailed([{ in: 'body', path: '/id', code: 'required', message: 'is required' }])
  if (operation === 'get') return findRow(parts, call, binding, id)
  const found = await findRow(parts, call, binding, id, 'id')
  if (version !== undefined && version > found.version) throw outdated()
  // The row may change after this read and then fall outside the filters, so the write names the version that was read.
  // A repeated request names the same version as before: the studio recognises its key and returns the first response.
  const target = { table: binding.table, id: found.id, version: version ?? found.version }
  const once = version === undefined ? { ...call, key: sha256Hex(`${call.key}/${found.version}`) } : call
  if (operation === 'delete') {
    await batch(parts, once, { op: 'delete', ...target })
    return null
  }
  const data = await writtenValues(parts, call, binding, values, false)
  return shownRow(binding, await batch(parts, once, { op: 'update', ...target, data }))
}

const outdated = () =>
  new ApiError('precondition_failed', 'The record has changed since it was read. Read it again.')

async function createRow(
  parts: CallParts,
  call: SourceCall,
  binding: TableBinding,
  inputValues: RowAction['values'],
): Promise<unknown> {
  const body = await writtenValues(parts, call, binding, inputValues, true)
  const { data } = await callOperation(parts, call, 'createRecord', { params: { slug: binding.table }, body })
  return shownRow(binding, StudioRecord.parse(data))
}

/** Throws `not_found` for a row that does not exist or that the filters exclude. */
async function findRow(
  parts: CallParts,
  call: SourceCall,
  binding: TableBinding,
  id: string,
  fields?: string,
): Promise<StudioRecord> {
  const { filter } = await filtersOf(parts, call, binding)
  const { data } = await callOperation(parts, call, 'listRecords', {
    params: { slug: binding.table },
    query: {
      ...(fields === undefined ? shownFields(binding) : { fields }),
      filter: stringifyExact(combineFilters([{ id }, ...filter])),
      limit: 1,
    },
  })
  const [row] = z.array(StudioRecord).parse(data)
  if (!row) throw notFound()
  return row
}

async function batch(parts: CallParts, call: SourceCall, operation: object): Promise<StudioRecord | null> {
  const { data } = await callOperation(parts, call, 'runRecordBatch', {
    body: { operations: [operation] },
  }).catch((cause: unknown) => {
    throw cause instanceof CallFailure && cause.code === 'precondition_failed' ? outdated() : cause
  })
  return Batch.parse(data).results[0]?.record ?? null
}

/** The writable columns from the request, overridden by the values the source sets itself. */
async function writtenValues(
  parts: CallParts,
  call: SourceCall,
  { writable, values = {} }: TableBinding,
  inputValues: RowAction['values'] = {},
  isNew: boolean,
): Promise<Record<string, unknown>> {
  const strange = Object.keys(inputValues).filter((name) => !writable.includes(name))
  if (strange.length > 0)
    throw validationFailed(
      strange.map((name) => ({
        ...{ in: 'body' as const, path: jsonPointer(['values', name]), code: 'unrecognized_key' },
        message: 'cannot be set by this data source',
      })),
    )
  const [own] = await evaluateTemplates(parts, call, [call.source.templates.values])
  const written = { ...inputValues, ...pick(own, Object.keys(values)) }
  const bound = rowFilterOf(call)
  return bound === null ? written : applyFilterValues(bound, written, isNew)
}

const pick = (value: unknown, names: readonly string[]): Record<string, unknown> => {
  const fields = value as Record<string, unknown>
  return Object.fromEntries(names.map((name) => [name, fields[name]]))
}

interface Filters {
  /** Filters of the source and of the embed. */
  filter: RowFilter[]
  search: RowFilter
}

async function filtersOf(parts: CallParts, call: SourceCall, binding: TableBinding): Promise<Filters> {
  const { templates } = call.source
  const [filter, search] = await evaluateTemplates(parts, call, [templates.filter, templates.search])
  const bound = rowFilterOf(call)
  return {
    filter: [...(bound === null ? [] : [bound]), evaluateFilter(binding.filter ?? {}, filter)],
    search: toSearchFilter(evaluateFilter(binding.search ?? {}, search, true)),
  }
}

/** The filter that an embed adds to this source; `null` if there is none. */
function rowFilterOf({ running: { embed }, source }: SourceCall): Filter | null {
  return embed === null || embed.exempt.includes(source.name) ? null : embed.rowFilter
}

function requireOperation({ operations }: TableBinding, operation: Operation): void {
  if (operations.includes(operation)) return
  throw new ApiError('forbidden', `This data source does not ${operation}.`)
}

const shownFields = ({ fields }: TableBinding) => (fields === undefined ? {} : { fields: fields.join(',') })

/** A row as the source exposes it. A source that reads nothing exposes only id and version. */
function shownRow({ fields, operations }: TableBinding, row: StudioRecord | null): unknown {
  if (row === null) return null
  const reads = operations.includes('list') || operations.includes('get')
  if (reads && fields === undefined) return row
  const shown = new Set(['id', 'version', ...(reads ? (fields ?? []) : [])])
  return Object.fromEntries(Object.entries(row).filter(([name]) => shown.has(name)))
}
