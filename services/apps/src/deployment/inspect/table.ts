import { baseColumns, type Permission, type SourceBinding, Table } from '@opsplane/contracts'
import { jsonPointer } from '@opsplane/http'
import { type Asking, type Finding, type Inspected, missing } from './ask.js'

type TableBinding = Extract<SourceBinding, { kind: 'table' }>

const base = new Set<string>(Object.values(baseColumns))

/** Whether the table and every column that a source speaks of is there. */
export async function inspectTable({ ask }: Asking, binding: TableBinding): Promise<Inspected> {
  const table = await ask('getTable', Table, { params: { slug: binding.table } })
  if (!table || table.purgeAt !== null) return missing('table', 'table', binding.table)
  const columns = new Map(table.columns.map((column) => [column.name, column.type]))
  return {
    pinned: { kind: 'table', id: table.id, name: table.slug, version: table.version },
    permissions: permissionsOf(binding),
    findings: [
      ...namedColumns(binding).flatMap(({ path, name }) => unknownColumn(columns, path, name)),
      ...writtenColumns(binding).flatMap(({ path, name }) =>
        columns.has(name) && columns.get(name) !== 'computed' ? [] : [cannotWrite(path, name)],
      ),
    ],
  }
}

interface NamedColumn {
  path: string
  name: string
}

const at = (...path: (string | number)[]) => jsonPointer(['binding', ...path])

function namedColumns({ fields = [], filter = {}, search = {}, sort }: TableBinding): NamedColumn[] {
  const keys = (field: string, conditions: object) =>
    Object.keys(conditions).map((name) => ({ path: at(field, name), name }))
  const sorted = (sort ?? '').split(',').filter((name) => name !== '')
  return [
    ...fields.map((name, index) => ({ path: at('fields', index), name })),
    ...keys('filter', filter),
    ...keys('search', search),
    ...sorted.map((name) => ({ path: at('sort'), name: name.trim().replace(/^-/, '') })),
  ]
}

const writtenColumns = ({ writable, values = {} }: TableBinding): NamedColumn[] => [
  ...writable.map((name, index) => ({ path: at('writable', index), name })),
  ...Object.keys(values).map((name) => ({ path: at('values', name), name })),
]

/** `extra.vip` is within the json column `extra`. */
function unknownColumn(columns: ReadonlyMap<string, string>, path: string, name: string): Finding[] {
  const [head = '', ...within] = name.split('.')
  const isThere = within.length === 0 ? columns.has(name) || base.has(name) : columns.get(head) === 'json'
  return isThere ? [] : [{ path, code: 'unknown_column', message: `the table has no column ${name}` }]
}

const cannotWrite = (path: string, name: string): Finding => ({
  path,
  code: 'unknown_column',
  message: `the table has no column ${name} that can be written`,
})

/** What is changed is looked for before. */
function permissionsOf({ operations }: TableBinding): Permission[] {
  const writes = operations.some((each) => each !== 'list' && each !== 'get')
  const reads = operations.some((each) => each !== 'create')
  return [...(reads ? (['records:read'] as const) : []), ...(writes ? (['records:write'] as const) : [])]
}
