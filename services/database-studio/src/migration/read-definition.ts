import {
  baseColumns,
  Column,
  ScalarType,
  TableCheck,
  TableIndex,
  type TableState,
  TableUnique,
} from '@opsplane/contracts'
import {
  difference,
  emptyShape,
  type ShapeColumn,
  type ShapeConstraint,
  type ShapeIndex,
  type TableShape,
} from './shape.js'

/** The properties of a table definition that are determined by SQL. */
export type TableDefinition = Pick<
  TableState,
  'slug' | 'description' | 'columns' | 'indexes' | 'uniques' | 'checks'
>

export interface KnownDefinition {
  definition: TableDefinition
  /** The shape of the table when the definition was written. */
  shape: TableShape
}

export interface ReadDefinition extends TableDefinition {
  /** Names of parts that a definition cannot express, such as a column with an unsupported type. */
  unmanaged: string[]
}

const nothing: KnownDefinition = {
  definition: { slug: '', description: '', columns: [], indexes: [], uniques: [], checks: [] },
  shape: emptyShape,
}

/** The current definition of a table. Unchanged parts keep their texts; the others are read from the catalogue. */
export function readDefinition(
  now: TableShape,
  { definition, shape: was }: KnownDefinition = nothing,
): ReadDefinition {
  const constraints = difference(was.constraints, now.constraints)
  const removedConstraints = [...constraints.removed, ...constraints.changed.map(([before]) => before)]
  const addedConstraints = [...constraints.added, ...constraints.changed.map(([, after]) => after)]
  const indexes = difference(was.indexes, now.indexes)
  const removedIndexNames = new Set(
    [...indexes.removed, ...indexes.changed.map(([before]) => before)].map(({ name }) => name),
  )
  const addedIndexes = [...indexes.added, ...indexes.changed.map(([, after]) => after)]
  const removedConstraintNames = new Set(removedConstraints.map(({ name }) => name))
  const known = new Map(definition.columns.map((column) => [column.name, column]))
  const oldColumns = new Map(was.columns.map((column) => [column.name, column]))
  const unmanaged: string[] = []

  const columns = now.columns.flatMap((column): Column[] => {
    if (Object.hasOwn(baseColumns, column.name)) return []
    const found = columnOf(column, {
      before: oldColumns.get(column.name),
      known: known.get(column.name),
      gone: removedConstraints,
      come: addedConstraints,
    })
    if (!found) unmanaged.push(`column ${column.name} of type ${column.type}`)
    return found ? [found] : []
  })
  const columnNames = new Set(columns.map(({ name }) => name))
  const ofColumns = (names: readonly string[]) => names.every((name) => columnNames.has(name))
  const uniques = definition.uniques.filter(({ name }) => !removedConstraintNames.has(name))
  const checks = definition.checks.filter(({ name }) => !removedConstraintNames.has(name))
  for (const constraint of addedConstraints) {
    if (isOfColumn(constraint, ofColumns)) continue
    const { name, type, columns: on, expression } = constraint
    const unique = TableUnique.safeParse({ name, columns: on })
    const check = TableCheck.safeParse({ name, expression })
    if (type === 'u' && unique.success && ofColumns(on)) uniques.push(unique.data)
    else if (type === 'c' && check.success) checks.push(check.data)
    else unmanaged.push(`constraint ${name}: ${constraint.definition}`)
  }
  const kept = definition.indexes.filter(({ name }) => !removedIndexNames.has(name))
  for (const index of addedIndexes) {
    const read = indexOf(index, columnNames)
    if (read) kept.push(read)
    else unmanaged.push(`index ${index.name}: ${index.definition}`)
  }
  const description = now.comment === was.comment ? definition.description : described(now.comment, 2_000)
  return { slug: now.name, description, columns, indexes: kept, uniques, checks, unmanaged }
}

/** A comment truncated to the maximum length of a description, without splitting a character at its end. */
const described = (comment: string | null, maxLength: number): string =>
  (comment ?? '').slice(0, maxLength).replace(/[\ud800-\udbff]$/, '')

interface ColumnPast {
  before: ShapeColumn | undefined
  known: Column | undefined
  gone: readonly ShapeConstraint[]
  come: readonly ShapeConstraint[]
}

function columnOf(now: ShapeColumn, past: ColumnPast): Column | null {
  const { before, known } = past
  const columnType = before && known && !retyped(now, past) ? known : typeOf(now, past.come)
  const alone = (constraint: ShapeConstraint) => constraint.type === 'u' && isAlone(constraint, now.name)
  const unique = past.come.some(alone) || (!past.gone.some(alone) && (known?.unique ?? false))
  const same = before?.default === now.default && known && before.generated === now.generated
  const comment = before && before.comment === now.comment ? known?.description : described(now.comment, 500)
  const common = {
    name: now.name,
    nullable: known && before?.notNull === now.notNull ? known.nullable : !now.notNull,
    unique,
    default: same
      ? known.default
      : now.generated || now.default === null
        ? null
        : { expression: now.default },
    description: comment ?? '',
  }
  const parsed = Column.safeParse({ ...columnType, ...common })
  if (columnType && parsed.success) return parsed.data
  // A column type that has no equivalent is exposed as `other`.
  return Column.safeParse({ type: 'other', sqlType: now.type, ...common }).data ?? null
}

/**
 * Whether the parts that determine a column's type have changed: an enum is a text with a check, a reference is a
 * column with a foreign key.
 */
function retyped(now: ShapeColumn, { before, known, gone, come }: ColumnPast): boolean {
  if (before?.type !== now.type || before.generated !== now.generated) return true
  if (now.generated && before.default !== now.default) return true
  if (JSON.stringify(before.values) !== JSON.stringify(now.values)) return true
  const of = (type: string) => (constraint: ShapeConstraint) =>
    constraint.type === type && isAlone(constraint, now.name)
  if (gone.some(of('f')) || come.some(of('f'))) return true
  return known?.type === 'enum' && gone.some(of('c'))
}

const deletions: Record<string, string> = { a: 'restrict', r: 'restrict', n: 'set_null', c: 'cascade' }

/** The type of a column with its properties; null if records support no such type. */
function typeOf(
  { name, type, values, generated, default: expression }: ShapeColumn,
  constraints: readonly ShapeConstraint[],
) {
  const plain = plainType(type)
  if (generated)
    return plain && plain.type !== 'array'
      ? { type: 'computed', expression: expression ?? '', resultType: plain.type }
      : null
  if (values) return { type: 'enum', values }
  const key = constraints.find((constraint) => constraint.type === 'f' && isAlone(constraint, name))
  return (key && referenceOf(key)) ?? plain
}

/** A foreign key as a reference; null if it refers to something a reference cannot express. */
function referenceOf({ references, onDelete, referred }: ShapeConstraint) {
  const [column] = referred ?? []
  if (!references || !column || !(onDelete in deletions)) return null
  const reference = { type: 'reference', table: references, onDelete: deletions[onDelete] }
  if (column.name === 'id') return reference
  const type = ScalarType.safeParse(plainType(column.type)?.type)
  return type.success ? { ...reference, key: { column: column.name, type: type.data } } : null
}

const plainTypes: Record<string, Column['type']> = {
  ...{ text: 'text', 'character varying': 'text', smallint: 'integer', integer: 'integer', bigint: 'bigint' },
  ...{ numeric: 'decimal', boolean: 'boolean', date: 'date', json: 'json', jsonb: 'json', uuid: 'uuid' },
  ...{ real: 'float', 'double precision': 'float', interval: 'interval', 'time without time zone': 'time' },
  ...{ 'timestamp with time zone': 'timestamp', 'timestamp without time zone': 'local_timestamp' },
}

/** Default number of second digits per column type, unless SQL declares another. */
const usualDigits: Partial<Record<Column['type'], number>> = {
  ...{ timestamp: 3, local_timestamp: 3, time: 6, interval: 6 },
}

function plainType(written: string) {
  const bare = written.replace(/\s*\([\d,-]+\)/, '')
  if (bare.endsWith('[]')) {
    const items = ScalarType.safeParse(plainTypes[bare.slice(0, -2)])
    return items.success
      ? { type: 'array' as const, items: items.data, ...keptOf(written, items.data) }
      : null
  }
  const type = plainTypes[bare]
  if (!type) return null
  const kept = keptOf(written, type)
  if (type === 'decimal') return { type, precision: null, scale: null, ...kept }
  if (type === 'text') return { type, maxLength: Number(/\((\d+)\)/.exec(written)?.[1] ?? 0) || null }
  return { type, ...kept }
}

/** Precision and scale, where they are lower than the default of the type. */
function keptOf(written: string, type: Column['type'] | undefined): { precision?: number; scale?: number } {
  if (written.startsWith('real')) return { precision: 24 }
  const [, digits, behind = '0'] = /\((\d+)(?:,(-?\d+))?\)/.exec(written) ?? []
  if (type === undefined || digits === undefined) return {}
  const [precision, scale] = [Number(digits), Number(behind)]
  if (type === 'decimal') return { precision, scale }
  return precision < (usualDigits[type] ?? 0) ? { precision } : {}
}

function indexOf(
  { name, unique, plain, method, trigram, columns, valid }: ShapeIndex,
  columnNames: ReadonlySet<string>,
): TableIndex | null {
  if (!plain || !valid) return null
  const kind = method === 'btree' ? 'btree' : method === 'gin' && trigram ? 'trigram' : null
  // Indexes for lists end with the id, which definitions omit.
  const last = columns.at(-1)
  const declaredColumns =
    kind === 'btree' && !unique && columns.length > 1 && last?.name === 'id' ? columns.slice(0, -1) : columns
  const read = declaredColumns.map((column) => ({
    name: column.name ?? '',
    direction: column.descending ? ('desc' as const) : ('asc' as const),
  }))
  if (
    !kind ||
    !read.every((column) => columnNames.has(column.name) || Object.hasOwn(baseColumns, column.name))
  )
    return null
  return TableIndex.safeParse({ name, kind, unique, columns: read }).data ?? null
}

/** Whether a column definition already expresses this constraint (unique, or a reference), or every table has it. */
function isOfColumn(
  { type, columns, references }: ShapeConstraint,
  ofColumns: (names: readonly string[]) => boolean,
): boolean {
  if (columns.length === 1 && columns[0] === 'id') return type === 'p' || type === 'c'
  return columns.length === 1 && ofColumns(columns) && (type === 'u' || (type === 'f' && references !== null))
}

const isAlone = ({ columns }: ShapeConstraint, name: string) => columns.length === 1 && columns[0] === name
