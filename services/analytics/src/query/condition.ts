import type { Filter } from '@opsplane/contracts'
import { baseColumns, columnName, type Dataset, type FactColumn, factTypes } from '../dataset/dataset.js'
import { describeChoices, InvalidQuery, pointerPart } from './invalid-query.js'
import type { Parameters } from './parameters.js'

type Condition = Filter[string]
type Operators = Exclude<Condition, string | number | boolean | null>
type Scalar = string | number | boolean | null

/** All columns that a query of the dataset may name. */
export const listColumns = (dataset: Dataset): Readonly<Record<string, FactColumn>> => ({
  ...baseColumns,
  ...dataset.columns,
})

/** SQL of a column: for facts the column itself, for rollups an element of the key. */
export type ColumnSql = (name: string) => string

/** Returns the SQL conditions for a filter. Throws `InvalidQuery` for an unknown column or an invalid value. */
export function conditionsSql(
  dataset: Dataset,
  filters: Filter,
  parameters: Parameters,
  toColumnSql: ColumnSql = columnName,
): string[] {
  return Object.entries(filters).flatMap(([name, condition]) => {
    const columns = listColumns(dataset)
    const column = Object.hasOwn(columns, name) ? columns[name] : undefined
    const pointer = `/filters/${pointerPart(name)}`
    if (!column) throw new InvalidQuery(pointer, describeChoices(Object.keys(columns)))
    const of = { column, sql: toColumnSql(name), pointer, parameters }
    if (condition === null || typeof condition !== 'object') return [equals(of, condition)]
    return Object.entries(condition).map(([operator, operand]) =>
      operations[operator as keyof Operators](of, operand as never),
    )
  })
}

interface Operand {
  column: FactColumn
  sql: string
  pointer: string
  parameters: Parameters
}

function value({ column, pointer, parameters }: Operand, operand: Exclude<Scalar, null>): string {
  const wrong = () => new InvalidQuery(pointer, `must be compared with a value of type ${column.type}`)
  if (column.type === 'text') {
    if (typeof operand !== 'string') throw wrong()
  } else if (column.type === 'boolean') {
    if (typeof operand !== 'boolean') throw wrong()
  } else if (column.type === 'timestamp') {
    if (typeof operand !== 'string' || Number.isNaN(Date.parse(operand))) throw wrong()
    return parameters.add(new Date(operand).toISOString(), factTypes.timestamp)
  } else if (typeof operand !== 'number' || !Number.isFinite(operand)) throw wrong()
  else return parameters.add(operand, 'numeric')
  return parameters.add(String(operand).replaceAll('\0', ''), factTypes[column.type])
}

const equals = (of: Operand, operand: Scalar) =>
  operand === null ? `${of.sql} is null` : `${of.sql} = ${value(of, operand)}`

const inList = (of: Operand, operands: Scalar[]) =>
  operands.length === 0 ? 'false' : `(${operands.map((each) => equals(of, each)).join(' or ')})`

const comparison = (operator: string) => (of: Operand, operand: string | number) =>
  `${of.sql} ${operator} ${value(of, operand)}`

function requireText(of: Operand): Operand {
  if (of.column.type !== 'text') throw new InvalidQuery(of.pointer, 'is no text, and contains none')
  return of
}

/** A null differs from every value, as in filters elsewhere on the platform. */
const operations: Record<keyof Operators, (of: Operand, operand: never) => string> = {
  in: (of, operands: Scalar[]) => inList(of, operands),
  nin: (of, operands: Scalar[]) => `not coalesce(${inList(of, operands)}, false)`,
  ne: (of, operand: Scalar) => `not coalesce(${equals(of, operand)}, false)`,
  gt: comparison('>'),
  gte: comparison('>='),
  lt: comparison('<'),
  lte: comparison('<='),
  exists: (of, operand: boolean) => `${of.sql} is ${operand ? 'not ' : ''}null`,
  contains: (of, operand: Scalar) => `strpos(${requireText(of).sql}, ${value(of, operand ?? '')}) > 0`,
  starts_with: (of, operand: string) => `starts_with(${requireText(of).sql}, ${value(of, operand)})`,
}
