import { z } from 'zod'
import { ApiError } from '../core/errors.js'
import type { Filter } from '../core/filter.js'
import { Environment, type RowSubject } from '../core/principal.js'
import { patternMatches } from './event.js'
import type { EventType } from './event-catalog.js'

/** A row rule that limits members of a role to some records of a table. */
export const ReadRule = z.object({ environment: Environment, table: z.string(), role: z.string() })
export type ReadRule = z.infer<typeof ReadRule>

export const ReadRulesQuestion = z.strictObject({ workspaceId: z.string() })
export const ReadRules = z.object({ rules: z.array(ReadRule) })

/** The part of a webhook, a trigger or a business rule that selects its events. */
export interface EventSubscription {
  events: readonly string[]
  /** Evaluated on the body of a delivery. */
  filter?: Filter | null | undefined
}

const recordEvents = [
  'record.created',
  'record.updated',
  'record.deleted',
] as const satisfies readonly EventType[]

/**
 * Whether the subscription includes events of records. These contain whole records,
 * so row rules cannot be applied to them.
 */
export const reachesRecords = ({ events }: EventSubscription): boolean =>
  events.some((pattern) => recordEvents.some((type) => patternMatches(pattern, type)))

/** The role of the subscriber, and of the callers on whose request they act. */
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

/**
 * The only tables a filter lets through; `undefined` if it lets any through, for
 * example because the name is a template.
 */
function tablesNamedBy(filter: Filter | null | undefined): readonly unknown[] | undefined {
  const condition = filter?.['data.tableSlug']
  const tableSlugs = typeof condition === 'object' ? condition?.in : condition && [condition]
  return Array.isArray(tableSlugs) && !tableSlugs.some((slug) => String(slug).includes('{{'))
    ? tableSlugs
    : undefined
}

/** `forbidden` (`row_rule`) with the rules that hide events of a subscription from its owner. */
export function hiddenByRules(rules: readonly ReadRule[]): ApiError {
  const listedRules = rules.map(({ table, role }) => ({ table, role }))
  const message =
    'Events show records whole, and row rules hide some of them from you: ' +
    `${listedRules.map(({ table, role }) => `${table} (for ${role})`).join(', ')}. ` +
    'Name other tables by a filter of `data.tableSlug`.'
  return new ApiError('forbidden', message, {
    details: [{ in: 'body', path: '/events', code: 'row_rule', message, params: { rules: listedRules } }],
  })
}
