import type { TablePatch, TableState } from '@opsplane/contracts'
import { quoteIdentifier } from '@opsplane/postgres'
import { parseStatements, scan, walkNodes } from '../sql/grammar.js'

/** Previous column names mapped to new ones. */
export type Renames = ReadonlyMap<string, string>

/** The renames of a patch; empty if columns swap names, since expressions are then left as they are. */
export function findRenames({ columns }: Pick<TableState, 'columns'>, patch: TablePatch): Renames {
  const { change = [], rename = [] } = patch.columns ?? {}
  const all = [...change.map(({ name, to }) => ({ name, to: to.name })), ...rename]
  const renames = new Map(all.filter(({ name, to }) => name !== to).map(({ name, to }) => [name, to]))
  const existingNames = new Set(columns.map(({ name }) => name))
  return [...renames.values()].some((name) => existingNames.has(name)) ? new Map() : renames
}

export const reverseRenames = (renames: Renames): Renames =>
  new Map([...renames].map(([from, to]) => [to, from]))

/**
 * A definition whose checks, computed columns and rules use the new column names. Postgres
 * renames its own expressions automatically.
 */
export async function renameReferences(table: TableState, renames: Renames): Promise<TableState> {
  if (renames.size === 0) return table
  const spoken = async <Part extends { expression: string }>(part: Part): Promise<Part> => ({
    ...part,
    expression: await expressionInNames(part.expression, renames),
  })
  return {
    ...table,
    columns: await Promise.all(
      table.columns.map((column) => (column.type === 'computed' ? spoken(column) : column)),
    ),
    checks: await Promise.all(table.checks.map(spoken)),
    rules: table.rules.map((rule) => ({
      ...rule,
      read: rule.read && filterInNames(rule.read, renames),
      write: rule.write && filterInNames(rule.write, renames),
    })),
  }
}

const prefix = 'select '
const nameAtStart = /^(?:"(?:[^"]|"")*"|[\p{L}_][\p{L}\p{N}_$]*)/u

async function expressionInNames(expression: string, renames: Renames): Promise<string> {
  const [statement] = await parseStatements(`${prefix}${expression}`)
  let bytes = Buffer.from(expression)
  const found = [...walkNodes(statement?.node)].flatMap(({ kind, fields }) => {
    if (kind !== 'ColumnRef') return []
    const { fields: [field] = [], location = 0 } = fields as ColumnRef
    const to = renames.get(field?.String?.sval ?? '')
    return to === undefined ? [] : [{ to, at: location - prefix.length }]
  })
  for (const { to, at } of found.sort((a, b) => b.at - a.at)) {
    const rest = bytes.subarray(at).toString()
    const written = nameAtStart.exec(rest)?.[0] ?? ''
    bytes = Buffer.concat([
      bytes.subarray(0, at),
      Buffer.from((await inSql(to)) + rest.slice(written.length)),
    ])
  }
  return bytes.toString()
}

interface ColumnRef {
  fields?: { String?: { sval?: string } }[]
  location?: number
}

/** A name as SQL, quoted only if necessary. */
async function inSql(name: string): Promise<string> {
  if (!/^[a-z_][a-z0-9_]*$/.test(name)) return quoteIdentifier(name)
  const [token] = await scan(name)
  return token?.tokenName === 'IDENT' ? name : quoteIdentifier(name)
}

function filterInNames(filter: Record<string, unknown>, renames: Renames): Record<string, unknown> {
  const entries = Object.entries(filter).map(([name, condition]): [string, unknown] => {
    if (name === 'or' && Array.isArray(condition))
      return [name, condition.map((one) => filterInNames(one as Record<string, unknown>, renames))]
    const [head = '', ...path] = name.split('.')
    return [[renames.get(head) ?? head, ...path].join('.'), condition]
  })
  return Object.fromEntries(entries)
}
