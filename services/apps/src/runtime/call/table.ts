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

/** What a press of a button does with a row: only one that the filters leave. */
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
  // What was found may change before this: then it is not changed, as it may be within the filters no more. A request that
  // is sent again names the version it named before: the studio knows it by its key, and answers what it answered.
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
  given: RowAction['values'],
): Promise<unknown> {
  const body = await writtenValues(parts, call, binding, given, true)
  const { data } = await callOperation(parts, call, 'createRecord', { params: { slug: binding.table }, body })
  return shownRow(binding, StudioRecord.parse(data))
}

/** Throws `not_found` for a row that is not there, or that the filters leave out. */
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

/** The columns that may be set, and over them those the source sets itself. */
async function writtenValues(
  parts: CallParts,
  call: SourceCall,
  { writable, values = {} }: TableBinding,
  given: RowAction['values'] = {},
  isNew: boolean,
): Promise<Record<string, unknown>> {
  const strange = Object.keys(given).filter((name) => !writable.includes(name))
  if (strange.length > 0)
    throw validationFailed(
      strange.map((name) => ({
        ...{ in: 'body' as const, path: jsonPointer(['values', name]), code: 'unrecognized_key' },
        message: 'cannot be set by this data source',
      })),
    )
  const [own] = await evaluateTemplates(parts, call, [call.source.templates.values])
  const written = { ...given, ...pick(own, Object.keys(values)) }
  const bound = rowFilterOf(call)
  return bound === null ? written : applyFilterValues(bound, written, isNew)
}

const pick = (value: unknown, names: readonly string[]): Record<string, unknown> => {
  const fields = value as Record<string, unknown>
  return Object.fromEntries(names.map((name) => [name, fields[name]]))
}

interface Filters {
  /** Of the source, and of the embed. */
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

/** What an embed narrows this source to. */
function rowFilterOf({ running: { embed }, source }: SourceCall): Filter | null {
  return embed === null || embed.exempt.includes(source.name) ? null : embed.rowFilter
}

function requireOperation({ operations }: TableBinding, wanted: Operation): void {
  if (operations.includes(wanted)) return
  throw new ApiError('forbidden', `This data source does not ${wanted}.`)
}

const shownFields = ({ fields }: TableBinding) => (fields === undefined ? {} : { fields: fields.join(',') })

/** A row as the source shows it: of one that reads nothing, id and version. */
function shownRow({ fields, operations }: TableBinding, row: StudioRecord | null): unknown {
  if (row === null) return null
  const reads = operations.includes('list') || operations.includes('get')
  if (reads && fields === undefined) return row
  const shown = new Set(['id', 'version', ...(reads ? (fields ?? []) : [])])
  return Object.fromEntries(Object.entries(row).filter(([name]) => shown.has(name)))
}
