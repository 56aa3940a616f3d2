import {
  type Decider,
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

const resource = resourceDecider<KpiRecord>({
  resourceType: 'kpi',
  table: 'kpis',
  displayName: ({ name }) => name,
})

/** A KPI is defined, changed and deleted; its values are no part of it. */
export const kpi: Decider<KpiRecord, KpiCommand, KpiState> = {
  ...resource,
  decide(command, state) {
    if (command.kind !== 'cross') return resource.decide(command, state)
    if (state === null) throw notFound()
    const { point, previousStatus } = command
    return [{ type: 'kpi.threshold_crossed', after: state, extras: { point, previousStatus } }]
  },
  expose: ({ owner: _, ...shown }) => shown,
}
