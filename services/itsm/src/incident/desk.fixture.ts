import { type CommandMeta, type Incident, newId, type TenantScope } from '@opsplane/contracts'
import { createEventStore } from '@opsplane/eventstore'
import { connect, provisionService } from '@opsplane/postgres'
import { createLogger } from '@opsplane/runtime'
import { createDatabase, templateDatabase, uniquePrefix } from '@opsplane/testing'
import { migrationsDir } from '../service.js'
import { incidentStore } from './incident-store.js'
import { incidentLinking } from './linking.js'
import { agent } from './sample-incidents.js'

export const tenantOf = (workspaceId = `ws_${uniquePrefix()}`): TenantScope => ({
  workspaceId,
  environment: 'production',
})

/** Incidents on a database of their own, without a service: nothing happens behind the test's back. */
export async function testDesk() {
  const provision = async (adminUrl: string) => {
    await provisionService({ adminUrl, service: 'itsm', password: 'test', migrationsDir })
  }
  const own = await createDatabase(await templateDatabase('itsm', provision))
  const database = connect(own.url, { schema: 'itsm', max: 8 })
  const log = createLogger({ service: 'test', level: 'silent' })
  let woken = 0
  let at = '2026-03-02T09:00:00.000Z'
  const ctx = {
    database,
    store: createEventStore({ database, log }),
    relay: { wake: () => void woken++ },
    clock: { now: () => at },
  }
  const incidents = incidentStore(ctx)
  const linking = incidentLinking(ctx, incidents)
  const meta = (tenant: TenantScope): CommandMeta => ({ tenant, actor: agent, now: at, requestId: null })

  return {
    ctx,
    incidents,
    linking,
    meta,
    setTime: (instant: string) => {
      at = instant
    },
    woken: () => woken,
    async open(tenant: TenantScope, parentId: string | null = null): Promise<Incident> {
      const id = newId('incident')
      const number = `INC-${await ctx.store.numbers.next(tenant.workspaceId, 'incident')}`
      const input = { title: 'Checkout answers 502', severity: 'medium' as const, tags: [], parentId }
      return linking.create({ kind: 'create', id, number, by: agent, now: at, input }, meta(tenant))
    },
    async close() {
      await database.close()
      await own.drop()
    },
  }
}
export type TestDesk = Awaited<ReturnType<typeof testDesk>>
