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

/** A KPI with the owner it is measured for, which the API does not return. */
export interface KpiRecord extends KpiState {
  owner: Owner
}

export type KpiCommand =
  | ResourceCommand<KpiRecord>
  /** The status of a value differs from that of the previous one. */
  | { kind: 'cross'; point: KpiPoint; previousStatus: KpiStatus }
  /** A platform decision: the owner no longer has the rights to read the measured data. */
  | { kind: 'suspend'; now: Instant; ownerId: string; missing: readonly string[] }

/** Whether the KPI waits for a person with the rights to take it over. KPIs created by an earlier version never do. */
export const isSuspended = ({ suspendedFor = [] }: Partial<KpiState>): boolean => suspendedFor.length > 0

const resource = resourceDecider<KpiRecord>({
  resourceType: 'kpi',
  table: 'kpis',
  displayName: ({ name }) => name,
})

/** A KPI is created, changed and deleted; its values are stored elsewhere. */
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
