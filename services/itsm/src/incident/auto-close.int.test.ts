import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { newId, type TenantScope } from '@opsplane/contracts'
import { attemptDueWork } from '@opsplane/postgres'
import { createLogger } from '@opsplane/runtime'
import { addHeads, waitFor } from '@opsplane/testing'
import { z } from 'zod'
import { autoCloseBatch, autoCloseWork } from './auto-close.js'
import { claimStatement } from './auto-close-rows.js'
import { productionTenant, type TestDesk, testDesk } from './desk.fixture.js'

let settings: TestDesk
beforeAll(async () => {
  settings = await testDesk()
})
afterAll(() => settings?.close())

const dayMs = 86_400_000
const opened = '2026-03-20T09:00:00.000Z'
const after = (days: number, ms = 0) => new Date(Date.parse(opened) + days * dayMs + ms).toISOString()

const resolved = async (tenant: TenantScope) => {
  settings.setTime(opened)
  const { id } = await settings.open(tenant)
  return settings.incidents.handle(id, { kind: 'resolve', now: opened }, settings.meta(tenant))
}
const log = createLogger({ service: 'test', level: 'silent' })
/** Runs one batch and returns the number of closed incidents. */
async function sweep(): Promise<number> {
  const { database, clock } = settings.ctx
  return (
    await attemptDueWork(autoCloseWork(settings.ctx, settings.incidents), {
      sql: database.sql,
      log,
      simulated: clock,
    })
  ).done
}
const sweepAt = (instant: string) => {
  settings.setTime(instant)
  return sweep()
}
const statusOf = async (id: string, tenant: TenantScope) => (await settings.incidents.get(id, tenant)).status
const setDays = (tenant: TenantScope, autoCloseDays: number) =>
  settings.settings.patch({ autoCloseDays }, settings.meta(tenant))

it('closes an incident exactly a week after it was resolved, and records the cause', async () => {
  const tenant = productionTenant()
  const { id } = await resolved(tenant)
  await sweepAt(after(7, -1))
  expect(await statusOf(id, tenant)).toBe('resolved')
  const woken = settings.woken()
  expect(await sweepAt(after(7))).toBe(1)
  expect(settings.woken()).toBe(woken + 1)
  expect(await settings.incidents.get(id, tenant)).toMatchObject({ status: 'closed', closedAt: after(7) })
  const [event, ...more] = await settings.ctx.database.sql`
    select actor, workspace_id, data from events where stream_id = ${id} and type = 'incident.closed'`
  expect(more).toEqual([])
  expect(event).toMatchObject({
    actor: { type: 'system' },
    workspace_id: tenant.workspaceId,
    data: { outcome: 'closed', cause: 'auto_close' },
  })
  expect(await sweepAt(after(8))).toBe(0)
})

it('uses the settings of each tenant at the moment of the sweep', async () => {
  const [never, quick, usual] = [productionTenant(), productionTenant(), productionTenant()]
  await setDays(never, 0)
  await setDays(quick, 1)
  const [kept, first, second] = [await resolved(never), await resolved(quick), await resolved(usual)]
  // The same workspace in another environment, to which the settings above do not apply.
  const staging: TenantScope = { ...quick, environment: 'staging' }
  const other = await resolved(staging)
  expect(await sweepAt(after(1))).toBe(1)
  expect(await statusOf(first.id, quick)).toBe('closed')
  expect(await statusOf(other.id, staging)).toBe('resolved')
  await setDays(usual, 2)
  expect(await sweepAt(after(2))).toBe(1)
  expect(await statusOf(second.id, usual)).toBe('closed')
  expect(await sweepAt(after(365))).toBe(1)
  expect(await statusOf(kept.id, never)).toBe('resolved')
  await setDays(never, 365)
  expect(await sweepAt(after(365))).toBe(1)
})

it('does not close a major or reopened incident', async () => {
  const tenant = productionTenant()
  const [major, demoted, reopened] = [await resolved(tenant), await resolved(tenant), await resolved(tenant)]
  const decide = (id: string, action: 'propose' | 'accept' | 'demote', userId: string) => {
    const by = { by: settings.meta(tenant).actor, userId }
    return settings.incidents.handle(id, { kind: 'major', action, ...by, now: opened }, settings.meta(tenant))
  }
  for (const { id } of [major, demoted]) {
    await decide(id, 'propose', 'usr_ada')
    await decide(id, 'accept', 'usr_grace')
  }
  await decide(demoted.id, 'demote', 'usr_ada')
  await settings.incidents.handle(reopened.id, { kind: 'reopen', now: opened }, settings.meta(tenant))
  expect(await sweepAt(after(30))).toBe(1)
  expect(await statusOf(major.id, tenant)).toBe('resolved')
  expect(await statusOf(demoted.id, tenant)).toBe('closed')
  expect(await statusOf(reopened.id, tenant)).toBe('in_progress')
})

/** Creates copies of an incident that differ only in id and number. */
async function copies(id: string, count: number) {
  const ids = Array.from({ length: count }, () => newId('incident'))
  await settings.ctx.database.sql.begin(async (tx) => {
    // Inserting so many rows with all their indexes may take longer than the statement timeout on a slow machine.
    await tx`set local statement_timeout = 0`
    await tx`
      insert into incidents (id, workspace_id, environment, version, state)
      select c.id, i.workspace_id, i.environment, i.version,
        (i.state::jsonb || jsonb_build_object('id', c.id, 'number', 'INC-' || (c.n + 1000)))::json
      from incidents i, unnest(${ids}::text[]) with ordinality c (id, n) where i.id = ${id}`
    await addHeads(tx, 'incidents')
  })
  return ids
}

it('closes the other incidents of a tenant if one cannot be read, and retries that one later', async () => {
  const tenant = productionTenant()
  const { id } = await resolved(tenant)
  const ids = await copies(id, 20)
  const { sql } = settings.ctx.database
  const poison = ids[7] ?? ''
  await sql`update incidents set state = (state::jsonb || '{"title": 7}')::json where id = ${poison}`
  expect(await sweepAt(after(7))).toBe(20)
  const left = await sql`
    select id, failures, held_until > ${after(7)} as held_back from incidents
    where workspace_id = ${tenant.workspaceId} and status = 'resolved'`
  expect(left).toEqual([{ id: poison, failures: 1, held_back: true }])
  expect(await sweep()).toBe(0)
  await sql`update incidents set state = (state::jsonb || '{"title": "Mended"}')::json where id = ${poison}`
  expect(await sweepAt(after(8))).toBe(1)
})

it('closes each incident once under concurrent sweeps', async () => {
  const tenant = productionTenant()
  const { id } = await resolved(tenant)
  const count = autoCloseBatch * 3 + 17
  await copies(id, count - 1)
  settings.setTime(after(7))
  const taken = await Promise.all(
    Array.from({ length: 4 }, async () => {
      let total = 0
      for (let swept = await sweep(); swept > 0; swept = await sweep()) total += swept
      return total
    }),
  )
  expect(taken.reduce((sum, swept) => sum + swept, 0)).toBe(count)
  const [reported] = await settings.ctx.database.sql`
    select count(*)::int as events, count(distinct stream_id)::int as incidents
    from events where workspace_id = ${tenant.workspaceId} and type = 'incident.closed'`
  expect(reported).toEqual({ events: count, incidents: count })
})

it('reads as few blocks with twenty thousand waiting incidents as with none', async () => {
  const tenant = productionTenant()
  const { id } = await resolved(tenant)
  await setDays(tenant, 0)
  await copies(id, 20_000)
  const waiting = productionTenant()
  await resolved(waiting)
  const { sql } = settings.ctx.database
  const { text, parameters } = claimStatement({ at: after(3), limit: 200 })
  const blocksRead = (mode: string) =>
    sql.begin(async (tx) => {
      await tx.unsafe(`set local plan_cache_mode = ${mode}`)
      const [row] = await tx.unsafe(`explain (analyze, buffers, format json) ${text}`, parameters)
      const [{ Plan: plan }] = Explained.parse(row?.['QUERY PLAN'])
      expect(plan['Actual Rows']).toBe(0)
      return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
    })
  // Index entries of incidents closed by earlier tests may be read as well, while any snapshot can still see them,
  // including the snapshots of autovacuum.
  const looked = async () => {
    await sql.unsafe('vacuum analyze incidents')
    for (const mode of ['force_custom_plan', 'force_generic_plan']) {
      const blocks = await blocksRead(mode)
      expect(blocks).toBeGreaterThan(0)
      expect(blocks).toBeLessThan(100)
    }
    return true
  }
  await waitFor(looked)
})

const Explained = z.tuple([
  z.object({
    Plan: z.object({
      'Actual Rows': z.number(),
      'Shared Hit Blocks': z.number(),
      'Shared Read Blocks': z.number(),
    }),
  }),
])
