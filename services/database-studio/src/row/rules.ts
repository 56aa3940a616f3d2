import { ExactNumber, type Principal, type RowSubject, type TableState } from '@opsplane/contracts'
import type { Condition } from './filter.js'
import { readFilter } from './filter.js'
import { type Place, Problems, pathBelow } from './problems.js'

/** Placeholders for the caller's values in a rule. */
const placeholders = {
  '$user.id': ({ userId }: RowSubject) => userId,
  '$user.email': ({ email }: RowSubject) => email ?? null,
  '$user.name': ({ actor }: RowSubject) => (actor.type === 'user' ? actor.name : null),
  '$actor.id': ({ actor }: RowSubject) => actor.id,
} as const

type Placeholder = keyof typeof placeholders

const isPlaceholder = (value: unknown): value is Placeholder =>
  typeof value === 'string' && Object.hasOwn(placeholders, value)

/** No record matches, because nothing is known of the caller. */
const matchesNothing = { kind: 'or', alternatives: [] } as const satisfies Condition

interface Rules {
  readRule: readonly Condition[]
  writeRule: readonly Condition[]
}

/**
 * The row rules of a table for the principal and each of its callers; all of them apply. A role without a rule is not
 * restricted; a subject with an unknown role can neither read nor write.
 */
export function findRules(table: TableState, principal: Principal): Rules {
  if (table.rules.length === 0) return { readRule: [], writeRule: [] }
  const each = [principal, ...(principal.callers ?? [])].map((subject) => rulesOf(table, subject))
  return {
    readRule: each.flatMap(({ readRule }) => readRule),
    writeRule: each.flatMap(({ writeRule }) => writeRule),
  }
}

function rulesOf(table: TableState, subject: RowSubject): Rules {
  if (subject.role === undefined) return { readRule: [matchesNothing], writeRule: [matchesNothing] }
  const rule = table.rules.find(({ role }) => role === subject.role)
  const readRule = conditionsOf(table, rule?.read, subject)
  // Records that a subject may not read must not be changed either.
  return { readRule, writeRule: [...readRule, ...conditionsOf(table, rule?.write, subject)] }
}

/** Whether the caller is under a rule of any of these tables, and therefore may not run free SQL. */
export const isRestricted = (tables: readonly TableState[], principal: Principal): boolean =>
  tables.some((table) => {
    const { readRule, writeRule } = findRules(table, principal)
    return readRule.length > 0 || writeRule.length > 0
  })

function conditionsOf(table: TableState, filter: unknown, subject: RowSubject): Condition[] {
  if (filter === null || filter === undefined) return []
  const problems = new Problems()
  const conditions = readFilter(table, filled(filter, subject), { in: 'body', path: '' }, problems)
  // A rule that can no longer be evaluated on its table matches no row, instead of every row.
  return problems.none ? conditions : [matchesNothing]
}

/** The filter with placeholders replaced by the caller's values. An unknown value equals nothing. */
function filled(filter: unknown, subject: RowSubject): unknown {
  if (isPlaceholder(filter)) return placeholders[filter](subject) ?? { in: [] }
  if (Array.isArray(filter)) return filter.map((one) => filled(one, subject))
  if (typeof filter !== 'object' || filter === null || filter instanceof ExactNumber) return filter
  return Object.fromEntries(Object.entries(filter).map(([key, value]) => [key, filled(value, subject)]))
}

const example: RowSubject = {
  actor: { id: 'usr_1', name: 'Ada', type: 'user' },
  userId: 'usr_1',
  email: 'ada@example.com',
}

/** Validates the rules of a table definition; problems are added to `problems`. */
export function checkRules(
  table: Pick<TableState, 'columns' | 'rules'>,
  place: Place,
  problems: Problems,
): void {
  table.rules.forEach((rule, index) => {
    for (const part of ['read', 'write'] as const) {
      const filter = rule[part]
      if (filter)
        readFilter(table, filled(filter, example), pathBelow(pathBelow(place, index), part), problems)
    }
  })
}
