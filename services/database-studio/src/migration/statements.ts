import type { AlterTableStmt, CreateStmt, DropStmt, IndexStmt, Node } from 'libpg-query'
import {
  findTypeName,
  isStatement,
  joinNames,
  parseStatements,
  type Statement,
  sqlError,
  walkNodes,
} from '../sql/grammar.js'
import { commandName } from '../sql/statement.js'

/** One statement of a migration. */
export interface MigrationStatement extends Pick<Statement, 'text' | 'start'> {
  /** True if it changes rows rather than the schema. */
  changesRows: boolean
  /** Name of the index that it builds concurrently, outside of any transaction. */
  buildsIndex: string | null
  /** The tables it drops, which are moved to the trash. */
  drops: { names: string[]; cascades: boolean; mayLack: boolean } | null
  /** The types it drops, which tables in the trash may use. */
  dropsTypes: string[]
}

interface Problem {
  sql: string
  at: number
  path: string
}

/**
 * The statements of a migration: DDL of tables, indexes and types, and INSERT, UPDATE and DELETE. Throws
 * `validation_failed` for the first statement that is anything else. With `transactional` false, only concurrent
 * creation and removal of indexes is allowed. `path` is the JSON pointer of the text. `mayBeEmpty` allows texts without
 * statements, as recorded for some definition changes.
 */
export async function migrationStatements(
  sql: string,
  { transactional, path, mayBeEmpty = false }: { transactional: boolean; path: string; mayBeEmpty?: boolean },
): Promise<MigrationStatement[]> {
  const statements = await parseStatements(sql).catch((error: { details?: { path: string }[] }) => {
    for (const detail of error.details ?? []) detail.path = path
    throw error
  })
  if (statements.length === 0 && !mayBeEmpty)
    throw sqlError('has no statement', { sql, at: 0, path, code: 'no_statement' })
  return statements.map((statement) => checked(statement, { sql, at: statement.start, path }, transactional))
}

function checked({ node, kind, text, start }: Statement, problem: Problem, transactional: boolean) {
  if (transactional === isConcurrent(node)) {
    const rule = transactional
      ? 'works concurrently, which takes "transactional": false'
      : 'is none that works concurrently: those stand alone in a migration with "transactional": false'
    throw refusalError(rule, problem)
  }
  const check = checks[kind]
  if (!check) throw refusalError(`is ${commandName(kind)}, which a migration cannot be`, problem)
  check(node, problem)
  for (const within of walkNodes(node)) refuseWithin(within.kind, within.fields, problem)
  const buildsIndex =
    'IndexStmt' in node && node.IndexStmt.concurrent ? (node.IndexStmt.idxname ?? null) : null
  return {
    text,
    start,
    changesRows: rowStatements.has(kind),
    buildsIndex,
    drops: droppedTables(node),
    dropsTypes: droppedTypes(node),
  }
}

/** Additional checks by the kind of a statement's node. */
const checks: Record<string, (node: Node, problem: Problem) => void> = {
  CreateStmt: (node, problem) => 'CreateStmt' in node && checkCreate(node.CreateStmt, problem),
  AlterTableStmt: (node, problem) => 'AlterTableStmt' in node && checkAlter(node.AlterTableStmt, problem),
  RenameStmt: (node, problem) => 'RenameStmt' in node && checkObject(node.RenameStmt.renameType, problem),
  DropStmt: (node, problem) => 'DropStmt' in node && checkDrop(node.DropStmt, problem),
  IndexStmt: (node, problem) => 'IndexStmt' in node && checkIndex(node.IndexStmt, problem),
  CommentStmt: (node, problem) => 'CommentStmt' in node && checkObject(node.CommentStmt.objtype, problem),
  CreateEnumStmt: () => {},
  AlterEnumStmt: () => {},
  InsertStmt: () => {},
  UpdateStmt: () => {},
  DeleteStmt: () => {},
}

/** Node kinds of row statements and their parts; no other statement may be nested in a statement. */
const rowStatements = new Set(['SelectStmt', 'InsertStmt', 'UpdateStmt', 'DeleteStmt'])

function refuseWithin(kind: string, fields: Record<string, unknown>, problem: Problem): void {
  if (kind === 'SelectStmt' && 'intoClause' in fields)
    throw refusalError('makes a table by SELECT INTO', problem)
  if (isStatement(kind) && !rowStatements.has(kind) && !(kind in checks))
    throw refusalError(`is ${commandName(kind)}, which a migration cannot be`, problem)
  const type = findTypeName(kind, fields)
  if (type) throw refusalError(`uses the type ${type}, which names what others have`, problem)
  // Names must not be qualified with a schema, so that a migration has the same meaning in every environment.
  if (fields.schemaname !== undefined || fields.catalogname !== undefined)
    throw refusalError(`names a schema, ${String(fields.schemaname)}: tables are named without`, problem)
}

function checkCreate(create: CreateStmt, problem: Problem): void {
  const { relation, inhRelations, partspec, partbound, ofTypename, tablespacename, accessMethod, options } =
    create
  if (relation?.relpersistence !== 'p') throw refusalError('makes a temporary or unlogged table', problem)
  if (inhRelations || partspec || partbound) throw refusalError('makes a table of parts', problem)
  if (ofTypename || tablespacename || accessMethod || options)
    throw refusalError('makes a table with storage or a type of its own', problem)
}

const alterations = new Set(
  [
    ...['AddColumn', 'DropColumn', 'ColumnDefault', 'DropNotNull', 'SetNotNull', 'AlterColumnType'],
    ...['AddConstraint', 'DropConstraint', 'ValidateConstraint', 'AlterConstraint', 'AddIndexConstraint'],
    ...['SetStatistics', 'SetExpression', 'DropExpression', 'AddIdentity', 'SetIdentity', 'DropIdentity'],
  ].map((name) => `AT_${name}`),
)

function checkAlter({ objtype, cmds }: AlterTableStmt, problem: Problem): void {
  checkObject(objtype, problem)
  for (const { kind, fields } of walkNodes(cmds ?? [])) {
    const subtype = String(fields.subtype)
    if (kind === 'AlterTableCmd' && !alterations.has(subtype))
      throw refusalError(`alters a table in a way it cannot (${subtype.slice(3)})`, problem)
  }
}

const objects = new Set(
  ['TABLE', 'COLUMN', 'TABCONSTRAINT', 'INDEX', 'TYPE', 'ATTRIBUTE'].map((name) => `OBJECT_${name}`),
)

function checkObject(type: string | undefined, problem: Problem): void {
  if (!objects.has(type ?? ''))
    throw refusalError(
      `is about ${(type ?? '').replace('OBJECT_', '').toLowerCase()}, which a migration cannot change`,
      problem,
    )
}

function checkDrop(drop: DropStmt, problem: Problem): void {
  checkObject(drop.removeType, problem)
  for (const { fields } of walkNodes(drop.objects ?? []))
    if (Array.isArray(fields.items) && fields.items.length > 1 && drop.removeType !== 'OBJECT_TYPE')
      throw refusalError('names a schema: tables and indexes are named without', problem)
}

function droppedTables(node: Node): MigrationStatement['drops'] {
  if (!('DropStmt' in node) || node.DropStmt.removeType !== 'OBJECT_TABLE') return null
  const { objects = [], behavior, missing_ok: mayLack = false } = node.DropStmt
  const names = objects.map((object) => ('List' in object ? joinNames(object.List.items) : ''))
  return { names, cascades: behavior === 'DROP_CASCADE', mayLack }
}

function droppedTypes(node: Node): string[] {
  if (!('DropStmt' in node) || node.DropStmt.removeType !== 'OBJECT_TYPE') return []
  return (node.DropStmt.objects ?? []).map((object) =>
    'TypeName' in object ? joinNames(object.TypeName.names) : '',
  )
}

/** The statement without CONCURRENTLY, for a transaction that is rolled back. */
export const withoutConcurrently = (text: string): string =>
  text.replace(/^((?:create(?:\s+unique)?|drop)\s+index\s+)concurrently\b/i, '$1')

function checkIndex({ tableSpace, options }: IndexStmt, problem: Problem): void {
  if (tableSpace || options) throw refusalError('makes an index with storage of its own', problem)
}

const isConcurrent = (node: Node): boolean =>
  ('IndexStmt' in node && node.IndexStmt.concurrent === true) ||
  ('DropStmt' in node && node.DropStmt.concurrent === true)

const refusalError = (message: string, { sql, at, path }: Problem) =>
  sqlError(message, { sql, at, path, code: 'statement_refused' })
