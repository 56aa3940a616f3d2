import type { ChangeConflict, ChangeConflictKind, ChangeState, ChangeWindowState } from '@opsplane/contracts'
import { occurrences } from './occurrences.js'
import { containsSpan, intersectSpans, mergeSpans, type Span } from './spans.js'

/** The parts of a change that can collide. */
export interface Plan {
  id: string
  span: Span
  ciIds: readonly string[]
  assigneeId: string | null
}

/** Another change that occupies its planned time: submitted, and not completed yet. */
export interface OtherChange extends Plan {
  number: string
}

/** Everything near a plan that can collide with it. */
export interface ConflictContext {
  others: readonly OtherChange[]
  /** Active windows that cover one of the items and whose last occurrence does not end before the plan begins. */
  windows: readonly ChangeWindowState[]
  /** The class of each item of the plan that exists in the CMDB. */
  classes: ReadonlyMap<string, string>
  /**
   * Items that the plan's items depend on, or that depend on them, each mapped to the plan's item it was
   * reached from.
   */
  related: ReadonlyMap<string, string>
}

/** Returns `null` if the change has no planned times. */
export function toPlan(change: ChangeState): Plan | null {
  const { id, plannedStart, plannedEnd, ciIds, assigneeId } = change
  if (plannedStart === null || plannedEnd === null) return null
  return { id, span: { from: Date.parse(plannedStart), to: Date.parse(plannedEnd) }, ciIds, assigneeId }
}

/** Maximum number of conflicts stored with a change, because an event must fit into a message. */
export const maxConflicts = 50
const maxItems = 20

/** Returns the conflicts, blackouts first because they block the change, then by kind and start. */
export function detectConflicts(plan: Plan, around: ConflictContext): ChangeConflict[] {
  const found = [
    ...detectBlackouts(plan, around),
    ...detectOutsideMaintenance(plan, around),
    ...around.others.flatMap((other) => detectChangeConflicts(plan, other, around)),
  ]
  const rank = ({ kind }: ChangeConflict) => order.indexOf(kind)
  return found
    .sort((a, b) => rank(a) - rank(b) || compare(a.from, b.from) || compare(a.with ?? '', b.with ?? ''))
    .slice(0, maxConflicts)
}

const order: readonly ChangeConflictKind[] = [
  'blackout',
  'same_ci',
  'dependent_ci',
  'outside_maintenance',
  'assignee_busy',
]
const compare = (left: string, right: string) => (left < right ? -1 : Number(left > right))

/** If an item of the other change is both shared and dependent, only the shared item is reported. */
export function detectChangeConflicts(
  plan: Plan,
  other: OtherChange,
  { related }: ConflictContext,
): ChangeConflict[] {
  const span = intersectSpans(plan.span, other.span)
  if (!span || other.id === plan.id) return []
  const same = plan.ciIds.filter((id) => other.ciIds.includes(id))
  const relatedCiIds = other.ciIds.flatMap((id) => related.get(id) ?? [])
  const found: ChangeConflict[] = []
  if (same.length > 0)
    found.push(
      conflict('same_ci', other.id, same, span, `${other.number} changes the same items at this time.`),
    )
  else if (relatedCiIds.length > 0)
    found.push(
      conflict(
        'dependent_ci',
        other.id,
        [...new Set(relatedCiIds)],
        span,
        `${other.number} changes items at this time that depend on these, or that these depend on.`,
      ),
    )
  if (plan.assigneeId !== null && plan.assigneeId === other.assigneeId)
    found.push(
      conflict('assignee_busy', other.id, [], span, `${other.number} has the same assignee at this time.`),
    )
  return found
}

/** Returns the blackouts that the plan falls into. A blackout for all items also applies to a change without items. */
export function detectBlackouts(plan: Plan, { windows, classes }: ConflictContext): ChangeConflict[] {
  return windows.flatMap((window) => {
    if (window.kind !== 'blackout') return []
    const items = plan.ciIds.filter((id) => covers(window, id, classes))
    if (items.length === 0 && !coversAll(window)) return []
    const span = occurrences(window, plan.span).map((each) => intersectSpans(each, plan.span))[0]
    if (!span) return []
    return [
      conflict(
        'blackout',
        window.id,
        items,
        span,
        `The blackout "${window.name}" allows no changes at this time.`,
      ),
    ]
  })
}

/** An item without a current or future maintenance window can be changed at any time. */
function detectOutsideMaintenance(plan: Plan, { windows, classes }: ConflictContext): ChangeConflict[] {
  const open = new Map<ChangeWindowState, Span[]>()
  const timesOf = (window: ChangeWindowState) => {
    const times = open.get(window) ?? occurrences(window, plan.span)
    open.set(window, times)
    return times
  }
  const current = windows.filter((window) => window.kind === 'maintenance' && !isOver(window, plan.span))
  const outside = plan.ciIds.filter((id) => {
    const own = current.filter((window) => covers(window, id, classes))
    return own.length > 0 && !containsSpan(mergeSpans(own.flatMap(timesOf)), plan.span)
  })
  const message = 'The planned time is not within a maintenance window of each of these items.'
  return outside.length === 0 ? [] : [conflict('outside_maintenance', null, outside, plan.span, message)]
}

const isOver = ({ endsAt }: ChangeWindowState, { from }: Span) =>
  endsAt !== null && Date.parse(endsAt) <= from

const coversAll = ({ ciIds, classes }: ChangeWindowState) => ciIds === null && classes === null

/**
 * Whether the window covers the item: it names the item or applies to all items, and names its class or applies
 * to any.
 */
export function covers(window: ChangeWindowState, id: string, classOf: ReadonlyMap<string, string>): boolean {
  const { ciIds, classes } = window
  if (ciIds !== null && !ciIds.includes(id)) return false
  return classes === null || classes.includes(classOf.get(id) ?? '')
}

function conflict(
  kind: ChangeConflictKind,
  other: string | null,
  ciIds: readonly string[],
  span: Span,
  message: string,
): ChangeConflict {
  const [from, to] = [new Date(span.from).toISOString(), new Date(span.to).toISOString()]
  return { kind, with: other, ciIds: ciIds.slice(0, maxItems), message, from, to }
}

/** Identity of a conflict, which stays the same when its time or items change. */
export const conflictKey = ({ kind, with: other }: ChangeConflict): string => `${kind}/${other ?? ''}`

/** Returns the conflicts in `after` that are not in `before`. */
export function newConflicts(
  before: readonly ChangeConflict[],
  after: readonly ChangeConflict[],
): ChangeConflict[] {
  const known = new Set(before.map(conflictKey))
  return after.filter((each) => !known.has(conflictKey(each)))
}
