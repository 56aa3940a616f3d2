import {
  type Criticality,
  type IncidentState,
  type MajorRule,
  type PlatformEvent,
  systemActor,
  type TenantScope,
} from '@opsplane/contracts'
import type { Unit } from '@opsplane/eventstore'
import type { ServiceContext } from '@opsplane/service'
import { itemCriticality } from '../../cmdb/queries.js'
import type { SettingsStore } from '../../settings/settings-store.js'
import type { IncidentStore } from '../incident-store.js'
import { affectsRules, findProposalReason, mayMatch } from './major-rules.js'

export type ProposalContext = Pick<ServiceContext, 'database' | 'store' | 'clock'>

/**
 * Proposes incidents as major incidents by the rules in the settings. An event only selects the incident to check; the
 * current state decides, so duplicated, late or reordered events do no harm.
 */
export function createMajorProposals(
  { database, store, clock }: ProposalContext,
  incidents: IncidentStore,
  settings: SettingsStore,
) {
  async function handle(events: readonly PlatformEvent[]): Promise<void> {
    const changed = events.filter(({ data: { before, changes } }) => affectsRules(before, changes))
    for (const { id, data, resource, workspaceId, environment } of changed) {
      const tenant = { workspaceId, environment }
      const { majorRules } = await settings.current(tenant)
      // A later change has its own event.
      if (mayMatch(majorRules, data.after)) await propose(resource.id, majorRules, tenant, id)
    }
  }

  /** Proposes the incident at most once. Does nothing if a decision was already made or the incident has ended. */
  async function propose(id: string, rules: readonly MajorRule[], tenant: TenantScope, causationId: string) {
    const now = clock.now()
    const suggest = async (unit: Unit) => {
      const found = await unit.find(incidents, id)
      if (found === null || found.state.majorState !== 'none') return
      if (!incidents.present(found).allowedMajorActions.includes('propose')) return
      const criticality = await criticalityOf(found.state, rules, tenant)
      const reason = findProposalReason(rules, { ...found.state, criticality })
      if (reason === undefined) return
      const by = { by: systemActor, userId: systemActor.id }
      await unit.handle(incidents, id, { kind: 'major', action: 'propose', ...by, reason, now })
    }
    const meta = { tenant, actor: systemActor, now, requestId: null, causationId }
    await store.transact(meta, suggest, { queueKey: id })
  }

  async function criticalityOf(
    { ciId }: IncidentState,
    rules: readonly MajorRule[],
    tenant: TenantScope,
  ): Promise<Criticality | null> {
    if (ciId === null || !rules.some(({ criticalities }) => criticalities)) return null
    return itemCriticality(database.db, tenant, ciId)
  }

  return { handle }
}
