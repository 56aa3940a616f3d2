import type { A_Expr, FuncCall, Node, TypeName } from 'libpg-query'
import { findNodeKind, joinNames, parseStatements, type SqlProblem, scan, sqlError } from './grammar.js'

export interface ExpressionRules {
  /** Columns that it may use; none for a default. */
  columns: readonly string[]
  /**
   * A default may also use the current time and generate ids. Checks and computed columns may not use these or any
   * other non-immutable function.
   */
  kind: 'check' | 'default' | 'computed'
  /** JSON pointer of the expression in the request's body. */
  path: string
}

/**
 * Parses an expression of a definition with the Postgres grammar and allows only built-in functions and operators whose
 * result and cost depend on their arguments alone. An accepted expression can be placed in brackets unchanged. Returns
 * the columns it uses. Throws `validation_failed` with the disallowed part and its position.
 */
export async function checkExpression(sql: string, rules: ExpressionRules): Promise<{ columns: string[] }> {
  const problem = { sql, path: rules.path }
  await refuseUnbalanced(problem)
  const prefix = 'select '
  const [statement, second] = await parseStatements(`${prefix}${sql}`).catch((error) => {
    throw shiftPositions(error, rules.path, prefix.length)
  })
  const select = statement && 'SelectStmt' in statement.node ? statement.node.SelectStmt : undefined
  const target = select?.targetList?.[0]
  const expression = target && 'ResTarget' in target ? target.ResTarget : undefined
  if (!select || second || select.targetList?.length !== 1 || !expression?.val || expression.name)
    throw sqlError('must be one expression', { ...problem, at: 0, code: 'not_an_expression' })
  const { targetList: _, limitOption: __, op: ___, ...clauses } = select
  if (Object.keys(clauses).length > 0)
    throw sqlError('must be one expression', { ...problem, at: 0, code: 'not_an_expression' })
  const walk = { problem, prefix: prefix.length, rules, columns: new Set<string>() }
  visit(expression.val, walk)
  return { columns: [...walk.columns] }
}

/** Rejects unbalanced brackets, with which the expression could close the brackets around it. */
async function refuseUnbalanced(problem: Omit<SqlProblem, 'at'>): Promise<void> {
  let depth = 0
  for (const { text, start, tokenName } of await scan(problem.sql)) {
    if (text === '(') depth += 1
    if (text === ')') depth -= 1
    const comment = tokenName === 'SQL_COMMENT' || tokenName === 'C_COMMENT'
    if (depth < 0 || text === ';' || comment)
      throw sqlError('must be one expression', { ...problem, at: start, code: 'not_an_expression' })
  }
}

interface Walk {
  problem: Omit<SqlProblem, 'at'>
  prefix: number
  rules: ExpressionRules
  columns: Set<string>
}

/** Node kinds that need no check beyond that of their parts. */
const plain = new Set([
  ...['A_Const', 'BoolExpr', 'NullTest', 'BooleanTest', 'CaseExpr', 'CaseWhen', 'CoalesceExpr'],
  ...['MinMaxExpr', 'List', 'A_ArrayExpr', 'String', 'Integer', 'Float', 'Boolean'],
])

function visit(node: Node, walk: Walk): void {
  const kind = findNodeKind(node)
  if ('ColumnRef' in node) nameColumn(node.ColumnRef, walk)
  else if ('A_Expr' in node) checkOperator(node.A_Expr, walk)
  else if ('FuncCall' in node) checkFunction(node.FuncCall, walk)
  else if ('TypeCast' in node) checkType(node.TypeCast.typeName, walk)
  else if ('SQLValueFunction' in node) {
    if (walk.rules.kind !== 'default' || !valueFunctions.has(node.SQLValueFunction.op ?? ''))
      refuse('uses a value that changes by itself', node.SQLValueFunction.location, walk)
  } else if (!plain.has(kind)) {
    refuse(`uses ${kind}, which an expression may not`, locationOf(node), walk)
  }
  for (const child of childrenOf(node)) visit(child, walk)
}

function nameColumn({ fields, location }: { fields?: Node[]; location?: number }, walk: Walk): void {
  const name = joinNames(fields)
  if (!walk.rules.columns.includes(name))
    refuse(
      walk.rules.kind === 'default'
        ? 'speaks of a column, which a default cannot'
        : `names no column: ${name}`,
      location,
      walk,
    )
  walk.columns.add(name)
}

function checkOperator({ name, location }: A_Expr, walk: Walk): void {
  const operator = joinNames(name)
  if (!operators.has(operator)) refuse(`uses the operator ${operator}, which is not allowed`, location, walk)
}

function checkFunction(call: FuncCall, walk: Walk): void {
  const name = joinNames(call.funcname).replace(/^pg_catalog\./, '')
  const allowed = immutable.has(name) || (walk.rules.kind === 'default' && changing.has(name))
  if (!allowed) refuse(`calls ${name}, which is not among the functions allowed here`, call.location, walk)
  const { agg_star, agg_distinct, agg_order, agg_filter, agg_within_group, over, func_variadic } = call
  if (agg_star || agg_distinct || agg_order || agg_filter || agg_within_group || over || func_variadic)
    refuse(`calls ${name} as an aggregate`, call.location, walk)
}

function checkType(type: TypeName | undefined, walk: Walk): void {
  const name = joinNames(type?.names).replace(/^pg_catalog\./, '')
  if (!types.has(name) || type?.setof || type?.pct_type)
    refuse(`casts to ${name}, which is not a type of columns`, type?.location, walk)
}

function refuse(message: string, location: number | undefined, { problem, prefix }: Walk): never {
  throw sqlError(message, { ...problem, at: Math.max((location ?? prefix) - prefix, 0) })
}

const locationOf = (node: Node) => (Object.values(node)[0] as { location?: number } | undefined)?.location

/** The child expressions of a node, without names of operators, functions and types. */
function childrenOf(node: Node): Node[] {
  const fields = Object.entries((Object.values(node)[0] ?? {}) as object)
  return fields.flatMap(([field, value]): Node[] => {
    if (field === 'fields' || field === 'name' || field === 'funcname' || field === 'typeName') return []
    return [value].flat().filter((part): part is Node => isNode(part))
  })
}

const isNode = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && /^[A-Z]/.test(findNodeKind(value))

/** Shifts the positions of an error, because the parsed text has a prefix before the expression. */
function shiftPositions(error: unknown, path: string, by: number): unknown {
  const details = (error as { details?: { path: string; params?: Record<string, unknown> }[] }).details
  for (const detail of details ?? []) {
    detail.path = path
    const { position, column, line } = detail.params ?? {}
    if (typeof position === 'number')
      detail.params = {
        ...detail.params,
        position: Math.max(position - by, 1),
        ...(line === 1 && typeof column === 'number' && { column: Math.max(column - by, 1) }),
      }
  }
  return error
}

const words = (text: string) => new Set(text.trim().split(/\s+/))

const operators = words(
  '+ - * / % ^ = <> != < > <= >= || ~ ~* !~ !~* ~~ !~~ ~~* !~~* -> ->> #> #>> @> <@ ? ?| ?& & | # << >> BETWEEN',
)

/** None of these functions can produce a large result from small arguments, as `repeat` can. */
const immutable = words(`
  abs ceil ceiling floor round trunc mod div power sqrt cbrt exp ln log sign width_bucket
  lower upper initcap length char_length character_length octet_length bit_length btrim ltrim rtrim trim
  substr substring left right replace translate position strpos split_part starts_with reverse overlay
  ascii chr md5 to_hex encode decode regexp_replace regexp_match regexp_like regexp_count regexp_substr like_escape similar_to_escape
  extract date_part date_trunc date_bin timezone make_date make_time make_timestamp age
  nullif num_nulls num_nonnulls
  jsonb_typeof json_typeof jsonb_array_length json_array_length jsonb_extract_path jsonb_extract_path_text jsonb_strip_nulls
  array_length cardinality array_position
  to_tsvector`)

const changing = words('now transaction_timestamp statement_timestamp clock_timestamp gen_random_uuid random')

const valueFunctions = words(
  'SVFOP_CURRENT_DATE SVFOP_CURRENT_TIMESTAMP SVFOP_CURRENT_TIMESTAMP_N SVFOP_LOCALTIMESTAMP',
)

const types = words(
  'text varchar bpchar int2 int4 int8 numeric float4 float8 bool date timestamp timestamptz time interval json jsonb uuid',
)
