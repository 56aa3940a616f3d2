import { z } from 'zod'
import { ApiError } from '../core/errors.js'
import type { Filter } from '../core/filter.js'
import { Environment, type RowSubject } from '../core/principal.js'
import { patternMatches } from './event.js'
import type { EventType } from './event-catalog.js'

/** A row rule by which people of a role read some records of a table only. */
export const ReadRule = z.object({ environment: Environment, table: z.string(), role: z.string() })
export type ReadRule = z.infer<typeof ReadRule>

export const ReadRulesQuestion = z.strictObject({ workspaceId: z.string() })
export const ReadRules = z.object({ rules: z.array(ReadRule) })

/** What of a webhook, a trigger or a business rule decides which events it is for. */
export interface EventSubscription {
  events: readonly string[]
  /** Over the body of a delivery. */
  filter?: Filter | null | undefined
}

const recordEvents = [
  'record.created',
  'record.updated',
  'record.deleted',
] as const satisfies readonly EventType[]

/** Whether it is for events of records, which show records whole: no row rule can be applied to them. */
export const reachesRecords = ({ events }: EventSubscription): boolean =>
  events.some((pattern) => recordEvents.some((type) => patternMatches(pattern, type)))

/** Who subscribes: what they are, and on whose request they act. */
export interface Subscriber extends Pick<RowSubject, 'role'> {
  callers?: readonly Pick<RowSubject, 'role'>[] | undefined
}

/** The rules that hide events of a subscription from its owner. Without a role every rule applies. */
export function rulesAgainst(
  rules: readonly ReadRule[],
  { role: own, callers = [] }: Subscriber,
  environment: Environment,
  subscription: EventSubscription,
): ReadRule[] {
  if (!reachesRecords(subscription)) return []
  const roles = [own, ...callers.map(({ role }) => role)]
  const tables = tablesNamedBy(subscription.filter)
  return rules.filter(
    (rule) =>
      rule.environment === environment &&
      (roles.includes(undefined) || roles.includes(rule.role)) &&
      (tables === undefined || tables.includes(rule.table)),
  )
}

/** The only tables a filter lets through; undefined: any, as where a template says which. */
function tablesNamedBy(filter: Filter | null | undefined): readonly unknown[] | undefined {
  const condition = filter?.['data.tableSlug']
  const named = typeof condition === 'object' ? condition?.in : condition && [condition]
  return Array.isArray(named) && !named.some((slug) => String(slug).includes('{{')) ? named : undefined
}

/** `forbidden` (`row_rule`) with the rules that hide events of a subscription from its owner. */
export function hiddenByRules(rules: readonly ReadRule[]): ApiError {
  const named = rules.map(({ table, role }) => ({ table, role }))
  const message =
    'Events show records whole, and row rules hide some of them from you: ' +
    `${named.map(({ table, role }) => `${table} (for ${role})`).join(', ')}. ` +
    'Name other tables by a filter of `data.tableSlug`.'
  return new ApiError('forbidden', message, {
    details: [{ in: 'body', path: '/events', code: 'row_rule', message, params: { rules: named } }],
  })
}
