import {
  type CommandMeta,
  changedFields,
  type Decider,
  type Decision,
  stringifyExact,
  type TenantScope,
} from '@opsplane/contracts'
import { traceparentOfCause } from '@opsplane/telemetry'
import type { EventRow, RowWrite } from './append/commit.js'
import { seal } from './sealed.js'

export interface Versioned<State> {
  /** `null` before creation and after deletion. */
  state: State | null
  version: number
}

interface DecisionRows<State> {
  events: EventRow[]
  /** One write per row, with the row's final content. */
  rows: RowWrite[]
  result: Versioned<State>
}

type Provenance = Pick<CommandMeta, 'actor' | 'now' | 'requestId' | 'causationId' | 'traceparent' | 'source'>

/** Turns decisions into the rows to write: one event per decision, versions without gaps. */
export function toRows<State extends { id: string }, Command, Resource>(
  decider: Decider<State, Command, Resource>,
  id: string,
  current: Versioned<State>,
  decisions: Decision<State>[],
  tenant: TenantScope,
  meta: Provenance,
  eventId: () => string,
): DecisionRows<State> {
  const events: EventRow[] = []
  const rows = new Map<string, RowWrite>()
  const actor = JSON.stringify(meta.actor)
  const source = meta.source ? JSON.stringify(meta.source) : null
  const scope = { workspaceId: tenant.workspaceId, environment: tenant.environment }
  const trace = meta.traceparent ?? traceparentOfCause(meta.causationId) ?? null
  let { state, version } = current

  for (const decision of decisions) {
    version++
    const subject = decision.after ?? state
    if (subject === null) throw new Error(`${decision.type} deletes ${id}, which does not exist`)
    const before = state && asObject(decider.expose(state))
    const after = decision.after && asObject(decider.expose(decision.after))
    const data = { before, after, changes: changedFields(before, after), ...decision.extras }
    const sealed = decision.after && after && seal(decision.after, after)
    events.push({
      id: eventId(),
      streamType: decider.table,
      streamId: id,
      version,
      type: decision.type,
      ...scope,
      actor,
      resource: stringifyExact({
        type: decider.resourceType,
        id: subject.id,
        ...decider.describe(subject),
      }),
      data: stringifyExact(data),
      sealed: sealed && stringifyExact(sealed),
      requestId: meta.requestId,
      causationId: meta.causationId ?? null,
      source,
      createdAt: meta.now,
      trace,
    })
    for (const row of projectedRows(decider, id, decision)) {
      const state = row.state && stringifyExact(row.state)
      rows.set(`${row.table}/${row.id}`, { table: row.table, id: row.id, ...scope, version, state })
    }
    state = decision.after
  }
  return { events, rows: [...rows.values()], result: { state, version } }
}

/** The rows one decision changes: the aggregate's own row, those of its decider's projection, and its extra rows. */
export function projectedRows<State extends { id: string }>(
  decider: Pick<Decider<State, never, unknown>, 'table' | 'project'>,
  id: string,
  decision: Decision<State>,
): { table: string; id: string; state: object | null }[] {
  const { after, extraRows = [] } = decision
  return [{ table: decider.table, id, state: after }, ...(decider.project?.(decision) ?? []), ...extraRows]
}

function asObject(resource: unknown): Record<string, unknown> {
  if (typeof resource !== 'object' || resource === null) throw new Error('expose() must return an object')
  return { ...resource }
}
