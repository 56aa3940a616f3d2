import { ExactNumber, type Principal, type RowSubject, type TableState } from '@opsplane/contracts'
import type { Condition } from './filter.js'
import { readFilter } from './filter.js'
import { type Place, Problems, pathBelow } from './problems.js'

/** What stands for the caller in a rule. */
const placeholders = {
  '$user.id': ({ userId }: RowSubject) => userId,
  '$user.email': ({ email }: RowSubject) => email ?? null,
  '$user.name': ({ actor }: RowSubject) => (actor.type === 'user' ? actor.name : null),
  '$actor.id': ({ actor }: RowSubject) => actor.id,
} as const

type Placeholder = keyof typeof placeholders

const isPlaceholder = (value: unknown): value is Placeholder =>
  typeof value === 'string' && Object.hasOwn(placeholders, value)

/** Nothing is known of the caller: no record satisfies it. */
const matchesNothing = { kind: 'or', alternatives: [] } as const satisfies Condition

interface Rules {
  readRule: readonly Condition[]
  writeRule: readonly Condition[]
}

/**
 * What a table's rules ask of the principal and of each of its callers: all of it applies. Nothing of a role it has no rule
 * for; a subject whose role is not known sees and writes nothing.
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
  // What must not be seen must not be changed either.
  return { readRule, writeRule: [...readRule, ...conditionsOf(table, rule?.write, subject)] }
}

/** Whether a caller is under a rule of any of these tables, so that free SQL is not for them. */
export const isRestricted = (tables: readonly TableState[], principal: Principal): boolean =>
  tables.some((table) => {
    const { readRule, writeRule } = findRules(table, principal)
    return readRule.length > 0 || writeRule.length > 0
  })

function conditionsOf(table: TableState, filter: unknown, subject: RowSubject): Condition[] {
  if (filter === null || filter === undefined) return []
  const problems = new Problems()
  const conditions = readFilter(table, filled(filter, subject), { in: 'body', path: '' }, problems)
  // A rule that its table can no longer evaluate matches no row, rather than every row.
  return problems.none ? conditions : [matchesNothing]
}

/** The filter with the caller's own values. What is not known of them is equal to nothing. */
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

/** What is wrong with the rules a table is to have is added to `problems`. */
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
