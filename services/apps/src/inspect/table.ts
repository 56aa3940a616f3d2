import { baseColumns, type Permission, type SourceBinding, Table } from '@opsplane/contracts'
import { jsonPointer } from '@opsplane/http'
import { type Finding, type Inspected, missingResource, type PlatformReader } from './platform-reader.js'

type TableBinding = Extract<SourceBinding, { kind: 'table' }>

const base = new Set<string>(Object.values(baseColumns))

/** Checks that the table and every column a source refers to exist. */
export async function inspectTable({ ask }: PlatformReader, binding: TableBinding): Promise<Inspected> {
  const table = await ask('getTable', Table, { params: { slug: binding.table } })
  if (!table || table.purgeAt !== null) return missingResource('table', 'table', binding.table)
  const columns = new Map(
    table.columns.map((column) => [
      column.name,
      {
        type: column.type === 'computed' ? column.resultType : column.type,
        isComputed: column.type === 'computed',
      },
    ]),
  )
  return {
    pinned: { kind: 'table', id: table.id, name: table.slug, version: table.version },
    permissions: permissionsOf(binding),
    findings: [
      ...namedColumns(binding).flatMap(({ path, name }) => unknownColumn(columns, path, name)),
      ...writtenColumns(binding).flatMap(({ path, name }) =>
        columns.get(name)?.isComputed === false ? [] : [cannotWrite(path, name)],
      ),
      ...sortedColumns(binding)
        .filter(({ name }) => columns.get(name)?.type === 'json')
        .map(({ path, name }) => ({
          path,
          code: 'cannot_sort',
          message: `${name} is JSON, which has no order`,
        })),
      ...textConditions(binding)
        .filter(({ name }) => !isText(columns.get(name)?.type))
        .map(({ path, name }) => ({
          path,
          code: 'no_text',
          message: `${name} is not a text, so it cannot be searched for parts`,
        })),
    ],
  }
}

interface NamedColumn {
  path: string
  name: string
}

const at = (...path: (string | number)[]) => jsonPointer(['binding', ...path])

function namedColumns(binding: TableBinding): NamedColumn[] {
  const { fields = [], filter = {}, search = {} } = binding
  const keys = (field: string, conditions: object) =>
    Object.keys(conditions).map((name) => ({ path: at(field, name), name }))
  return [
    ...fields.map((name, index) => ({ path: at('fields', index), name })),
    ...keys('filter', filter),
    ...keys('search', search),
    ...sortedColumns(binding),
  ]
}

const sortedColumns = ({ sort }: TableBinding): NamedColumn[] =>
  (sort ?? '')
    .split(',')
    .filter((name) => name !== '')
    .map((name) => ({ path: at('sort'), name: name.trim().replace(/^-/, '') }))

/** Conditions that apply only to text, on a whole column. */
const textConditions = ({ filter = {}, search = {} }: TableBinding): NamedColumn[] =>
  Object.entries({ filter, search }).flatMap(([field, conditions]) =>
    Object.entries(conditions).flatMap(([name, condition]) =>
      ['contains', 'starts_with']
        .filter((operator) => typeof condition === 'object' && condition !== null && operator in condition)
        .map((operator) => ({ path: at(field, name, operator), name })),
    ),
  )

/** Follows the filter rules of records. Unknown columns and paths within JSON are not judged by type. */
const isText = (type: string | undefined) =>
  type === undefined || ['text', 'enum', 'reference', 'json'].includes(type)

const writtenColumns = ({ writable, values = {} }: TableBinding): NamedColumn[] => [
  ...writable.map((name, index) => ({ path: at('writable', index), name })),
  ...Object.keys(values).map((name) => ({ path: at('values', name), name })),
]

/** A name such as `extra.vip` is a path within the JSON column `extra`. */
function unknownColumn(
  columns: ReadonlyMap<string, { type: string }>,
  path: string,
  name: string,
): Finding[] {
  const [head = '', ...within] = name.split('.')
  const isThere =
    within.length === 0 ? columns.has(name) || base.has(name) : columns.get(head)?.type === 'json'
  return isThere ? [] : [{ path, code: 'unknown_column', message: `the table has no column ${name}` }]
}

const cannotWrite = (path: string, name: string): Finding => ({
  path,
  code: 'unknown_column',
  message: `the table has no column ${name} that can be written`,
})

/** Updates and deletes also need the read permission, because the row is looked up first. */
function permissionsOf({ operations }: TableBinding): Permission[] {
  const writes = operations.some((each) => each !== 'list' && each !== 'get')
  const reads = operations.some((each) => each !== 'create')
  return [...(reads ? (['records:read'] as const) : []), ...(writes ? (['records:write'] as const) : [])]
}
