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
  placed: ColumnSql = columnName,
): string[] {
  return Object.entries(filters).flatMap(([name, condition]) => {
    const columns = listColumns(dataset)
    const column = Object.hasOwn(columns, name) ? columns[name] : undefined
    const pointer = `/filters/${pointerPart(name)}`
    if (!column) throw new InvalidQuery(pointer, describeChoices(Object.keys(columns)))
    const of = { column, sql: placed(name), pointer, parameters }
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

function value({ column, pointer, parameters }: Operand, given: Exclude<Scalar, null>): string {
  const wrong = () => new InvalidQuery(pointer, `must be compared with a value of type ${column.type}`)
  if (column.type === 'text') {
    if (typeof given !== 'string') throw wrong()
  } else if (column.type === 'boolean') {
    if (typeof given !== 'boolean') throw wrong()
  } else if (column.type === 'timestamp') {
    if (typeof given !== 'string' || Number.isNaN(Date.parse(given))) throw wrong()
    return parameters.add(new Date(given).toISOString(), factTypes.timestamp)
  } else if (typeof given !== 'number' || !Number.isFinite(given)) throw wrong()
  else return parameters.add(given, 'numeric')
  return parameters.add(String(given).replaceAll('\0', ''), factTypes[column.type])
}

const equals = (of: Operand, given: Scalar) =>
  given === null ? `${of.sql} is null` : `${of.sql} = ${value(of, given)}`

const inList = (of: Operand, given: Scalar[]) =>
  given.length === 0 ? 'false' : `(${given.map((each) => equals(of, each)).join(' or ')})`

const comparison = (operator: string) => (of: Operand, given: string | number) =>
  `${of.sql} ${operator} ${value(of, given)}`

function requireText(of: Operand): Operand {
  if (of.column.type !== 'text') throw new InvalidQuery(of.pointer, 'is no text, and contains none')
  return of
}

/** A null differs from every value, as in filters elsewhere on the platform. */
const operations: Record<keyof Operators, (of: Operand, operand: never) => string> = {
  in: (of, given: Scalar[]) => inList(of, given),
  nin: (of, given: Scalar[]) => `not coalesce(${inList(of, given)}, false)`,
  ne: (of, given: Scalar) => `not coalesce(${equals(of, given)}, false)`,
  gt: comparison('>'),
  gte: comparison('>='),
  lt: comparison('<'),
  lte: comparison('<='),
  exists: (of, given: boolean) => `${of.sql} is ${given ? 'not ' : ''}null`,
  contains: (of, given: Scalar) => `strpos(${requireText(of).sql}, ${value(of, given ?? '')}) > 0`,
  starts_with: (of, given: string) => `starts_with(${requireText(of).sql}, ${value(of, given)})`,
}
