import {
  type Decider,
  type Instant,
  type KpiPoint,
  type KpiState,
  type KpiStatus,
  notFound,
  type ResourceCommand,
  resourceDecider,
} from '@opsplane/contracts'
import type { Owner } from '../export/owner.js'

/** A KPI with whom it is measured for, which is not shown. */
export interface KpiRecord extends KpiState {
  owner: Owner
}

export type KpiCommand =
  | ResourceCommand<KpiRecord>
  /** A value has another status than the one before. */
  | { kind: 'cross'; point: KpiPoint; previousStatus: KpiStatus }
  /** The platform's own decision: this owner may no longer read what is measured. */
  | { kind: 'suspend'; now: Instant; ownerId: string; missing: readonly string[] }

/** Whether it waits for a person with the rights; KPIs of an earlier version never do. */
export const isSuspended = ({ suspendedFor = [] }: Partial<KpiState>): boolean => suspendedFor.length > 0

const resource = resourceDecider<KpiRecord>({
  resourceType: 'kpi',
  table: 'kpis',
  displayName: ({ name }) => name,
})

/** A KPI is defined, changed and deleted; its values are no part of it. */
export const kpi: Decider<KpiRecord, KpiCommand, KpiState> = {
  ...resource,
  decide(command, state) {
    if (command.kind !== 'cross' && command.kind !== 'suspend') return resource.decide(command, state)
    if (state === null) throw notFound()
    if (command.kind === 'suspend') {
      const { now, ownerId, missing } = command
      if (state.ownerId !== ownerId || isSuspended(state)) return []
      return [{ type: 'kpi.suspended', after: { ...state, suspendedFor: [...missing], updatedAt: now } }]
    }
    const { point, previousStatus } = command
    return [{ type: 'kpi.threshold_crossed', after: state, extras: { point, previousStatus } }]
  },
  expose: ({ owner: _, ...shown }) => shown,
}
