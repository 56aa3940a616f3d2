import type { CommandMeta, Incident, IncidentPatch, TenantScope } from '@opsplane/contracts'
import { createEventStore } from '@opsplane/eventstore'
import { connect } from '@opsplane/postgres'
import { createDatabase, templateDatabase, testLogin, uniquePrefix } from '@opsplane/testing'
import { uncheckedPeople } from '../people.js'
import { itsm } from '../service.js'
import { settingsStore } from '../settings/settings-store.js'
import { incidentStore } from './incident-store.js'
import { openIncident } from './open-incident.js'
import { patchIncident } from './parent-child/linking.js'
import { agent, create } from './sample-incidents.fixture.js'

export const productionTenant = (workspaceId = `ws_${uniquePrefix()}`): TenantScope => ({
  workspaceId,
  environment: 'production',
})

/** Incidents in a separate database without a running service, so that no background work interferes with the test. */
export async function testDesk() {
  const provision = async (adminUrl: string) => {
    await itsm.provision({ adminUrl, ...testLogin })
  }
  const own = await createDatabase(await templateDatabase('itsm', provision))
  const database = connect(own.url, { schema: 'itsm', max: 8 })
  let woken = 0
  let at = '2026-03-02T09:00:00.000Z'
  const ctx = {
    database,
    store: createEventStore({ database, onCommitWithin: () => void woken++ }),
    clock: { now: () => at },
  }
  const settings = settingsStore(ctx)
  const incidents = incidentStore(ctx, { settings, people: uncheckedPeople })
  const meta = (tenant: TenantScope): CommandMeta => ({ tenant, actor: agent, now: at, requestId: null })

  return {
    ctx,
    settings,
    incidents,
    meta,
    setTime: (instant: string) => {
      at = instant
    },
    woken: () => woken,
    open: (tenant: TenantScope, parentId: string | null = null, fields: object = {}): Promise<Incident> =>
      openIncident(ctx, incidents, { ...create.input, parentId, ...fields }, meta(tenant)),
    /** Like a PATCH request with this body and If-Match. */
    async patch(tenant: TenantScope, id: string, patch: IncidentPatch, expectedVersion?: number) {
      const settings = await incidents.getSettings(tenant)
      const command = { kind: 'patch', by: agent, now: at, settings, patch } as const
      const given = { ...meta(tenant), ...(expectedVersion !== undefined && { expectedVersion }) }
      return patchIncident(ctx, incidents, id, command, given)
    },
    async close() {
      await database.close()
      await own.drop()
    },
  }
}
export type TestDesk = Awaited<ReturnType<typeof testDesk>>
