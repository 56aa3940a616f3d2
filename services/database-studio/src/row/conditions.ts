import { assertNever, parseExact } from '@opsplane/contracts'
import { parameterText, quoteIdentifier } from '@opsplane/postgres'
import { comparedType, type Field } from './fields.js'
import type { Comparison, Condition, JsonTest } from './filter.js'
import { foldedSql } from './folded.js'
import type { Parameters } from './parameters.js'

const comparisons: Record<Comparison, string> = { gt: '>', gte: '>=', lt: '<', lte: '<=' }

/**
 * SQL for the conjunction of the conditions on the row called `row`; `true` if there are
 * none. Null counts as false.
 */
export function conditionsSql(conditions: readonly Condition[], row: string, parameters: Parameters): string {
  if (conditions.length === 0) return 'true'
  return conditions.map((condition) => conditionSql(condition, row, parameters)).join(' and ')
}

function conditionSql(condition: Condition, row: string, parameters: Parameters): string {
  if (condition.kind === 'or') {
    const either = condition.alternatives.map((all) => `(${conditionsSql(all, row, parameters)})`)
    return either.length === 0 ? 'false' : `(${either.join(' or ')})`
  }
  const { field } = condition
  const value = `${row}.${quoteIdentifier(field.column)}`
  const bind = (operand: string) => parameters.bind(operand, comparedType(field))
  switch (condition.kind) {
    case 'equals':
      return equality(value, condition, bind)
    case 'among':
      return membership(value, condition, parameters)
    case 'compares':
      return `${value} ${comparisons[condition.by]} ${bind(condition.value)}`
    case 'exists':
      return `${value} is ${condition.value ? 'not null' : 'null'}`
    case 'contains':
      return `${value}::text like ${parameters.bind(`%${escapeLike(condition.value)}%`, 'text')}`
    case 'starts_with':
      return startsWith(`${value}::text`, condition.value, parameters)
    case 'matches':
      return matches(`${value}::text`, condition, parameters)
    case 'has':
      return `coalesce(${parameters.bind(condition.value, comparedType({ kind: condition.items }))} = any(${value}), false)`
    case 'json':
      return jsonSql(jsonAt(`${value}::jsonb`, condition.path, parameters), condition.test, parameters)
    default:
      return assertNever(condition)
  }
}

function equality(
  value: string,
  { value: operand, negated }: { value: string | null; negated: boolean },
  bind: (operand: string) => string,
): string {
  if (operand === null) return `${value} is ${negated ? 'not null' : 'null'}`
  return negated ? `${value} is distinct from ${bind(operand)}` : `${value} = ${bind(operand)}`
}

function membership(
  value: string,
  { field, values, orNull, negated }: Extract<Condition, { kind: 'among' }>,
  parameters: Parameters,
): string {
  const type = comparedType(field)
  // Postgres would treat an array of arrays as a single array.
  const each = values.length === 1 || field.kind === 'array'
  const isOne =
    each && values.length > 0
      ? `(${values.map((one) => `${value} = ${parameters.bind(one, type)}`).join(' or ')})`
      : type === undefined
        ? `${value} = any(${parameters.bind(parameterText(values, undefined))})`
        : `${value} = any(array(select json_array_elements_text(${parameters.bind(JSON.stringify(values), 'json')})::${type}))`
  if (negated) return `(${orNull ? `${value} is not null and not` : `${value} is null or not`} (${isOne}))`
  return orNull ? `(${value} is null or ${isOne})` : isOne
}

/** Matches a substring or a prefix of a text. */
function matches(
  text: string,
  { value, atStart, byIndex }: { value: string; atStart: boolean; byIndex?: boolean },
  parameters: Parameters,
): string {
  const pattern = parameters.bind(`${atStart ? '' : '%'}${escapeLike(value)}%`, 'text')
  return byIndex ? `${text} ilike ${pattern}` : `${foldedSql(text)} like ${foldedSql(pattern)}`
}

/** Uses a range, so that an index in byte order can serve any prefix. */
function startsWith(value: string, text: string, parameters: Parameters): string {
  if (text === '') return `${value} is not null`
  const from = `${value} >= ${parameters.bind(text, 'text')}`
  const end = firstAfter(text)
  return end === undefined ? from : `(${from} and ${value} < ${parameters.bind(end, 'text')})`
}

const surrogates = { first: 0xd800, after: 0xe000, last: 0x10ffff }

/**
 * The lowest text, in code point order, that is greater than every text with this prefix.
 * `undefined` if there is none.
 */
function firstAfter(text: string): string | undefined {
  const points = [...text].map((character) => character.codePointAt(0) ?? 0)
  while (points.length > 0) {
    const next = (points.pop() ?? 0) + 1
    if (next > surrogates.last) continue
    return String.fromCodePoint(...points, next === surrogates.first ? surrogates.after : next)
  }
  return undefined
}

/** Escapes a text so that LIKE matches it literally. */
export const escapeLike = (text: string): string => text.replaceAll(/[\\%_]/g, '\\$&')

const jsonAt = (value: string, path: readonly string[], parameters: Parameters): string =>
  path.length === 0
    ? value
    : `(${value} #> array(select json_array_elements_text(${parameters.bind(JSON.stringify(path), 'json')})))`

function jsonSql(value: string, test: JsonTest, parameters: Parameters): string {
  switch (test.by) {
    case 'equals':
      return `coalesce(${value} = ${parameters.bind(test.value, 'jsonb')}, ${isNull(test.value)})`
    case 'differs':
      return `not coalesce(${value} = ${parameters.bind(test.value, 'jsonb')}, ${isNull(test.value)})`
    case 'among':
    case 'not_among':
      return `${test.by === 'among' ? '' : 'not '}coalesce(${value} in (select jsonb_array_elements(${parameters.bind(`[${test.values.join(',')}]`, 'jsonb')})), false)`
    case 'contains':
      return containsJson(value, test.value, parameters)
    case 'exists':
      return `${value} is ${test.value ? 'not null' : 'null'}`
    case 'matches':
      return `coalesce(jsonb_typeof(${value}) = 'string' and ${matches(`(${value} #>> '{}')`, test, parameters)}, false)`
    case 'starts_with':
      return `coalesce(jsonb_typeof(${value}) = 'string' and starts_with(${value} #>> '{}', ${parameters.bind(test.value, 'text')}), false)`
    default:
      return compareJson(value, test, parameters)
  }
}

const isNull = (json: string): boolean => json === 'null'

/** Matches an element of a list or a substring of a text. */
function containsJson(value: string, json: string, parameters: Parameters): string {
  const inList = `jsonb_typeof(${value}) = 'array' and ${value} @> ${parameters.bind(`[${json}]`, 'jsonb')}`
  const operand: unknown = parseExact(json)
  if (typeof operand !== 'string') return `coalesce(${inList}, false)`
  const pattern = parameters.bind(`%${escapeLike(operand)}%`, 'text')
  return `coalesce((${inList}) or (jsonb_typeof(${value}) = 'string' and ${value} #>> '{}' like ${pattern}), false)`
}

/** Compares numbers with numbers and texts with texts. The CASE avoids casting values of other types. */
function compareJson(
  value: string,
  test: Extract<JsonTest, { by: Comparison }>,
  parameters: Parameters,
): string {
  const [type, sql] = test.number ? ['number', 'numeric'] : ['string', 'text']
  const compared = `(${value} #>> '{}')::${sql} ${comparisons[test.by]} ${parameters.bind(test.value, sql)}`
  return `(case when jsonb_typeof(${value}) = '${type}' then ${compared} else false end)`
}

/** The fields used by the conditions, including those within alternatives. */
export function findFields(conditions: readonly Condition[]): Field[] {
  return conditions.flatMap((condition) =>
    condition.kind === 'or' ? condition.alternatives.flatMap(findFields) : [condition.field],
  )
}
