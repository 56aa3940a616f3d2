import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  ExplainedSlaTimer,
  Incident,
  IncidentSla,
  type NewSlaPolicy,
  SlaPolicy,
  SlaReapplied,
} from '@opsplane/contracts'
import { startTestService, type TestService, testPrincipal, waitFor } from '@opsplane/testing'
import type { z } from 'zod'
import { itsm } from '../../service.js'

/** A Monday. Time stands still until the test changes it. */
let nowMs = Date.parse('2026-03-02T09:00:00.000Z')
const clock = { now: () => new Date(nowMs).toISOString() }
/** Moves to `minutes` after an instant, so that everything due by then is reported. */
const moveTo = (from: string, minutes: number) => {
  nowMs = Date.parse(from) + minutes * 60_000 + 2_000
}

let service: TestService
beforeAll(async () => {
  service = await startTestService(itsm, { overrides: { clock } })
})
afterAll(() => service?.stop())

type Given = Partial<z.input<typeof NewSlaPolicy>>
/** A separate workspace with a policy of one hour for every incident. */
function workspace() {
  const api = service.as(testPrincipal())
  const hour = { name: 'Gold', metric: 'resolution', goalsBy: 'all', goals: { all: 60 }, warnings: [50] }
  const create = (policy: Given) => api.post('/itsm/sla-policies', { ...hour, ...policy })
  const timer = async (id: string): Promise<ExplainedSlaTimer> => {
    const { timers } = (await api.get(`/itsm/incidents/${id}/sla`)).data(IncidentSla)
    return ExplainedSlaTimer.parse(timers[0])
  }
  const get = async (id: string) => (await api.get(`/itsm/incidents/${id}`)).data(Incident)
  const once = <T>(read: (id: string) => Promise<T>, id: string, having: object) =>
    waitFor(async () => {
      const found = await read(id)
      expect(found).toMatchObject(having)
      return found
    })
  const clockUntil = (id: string, having: object) => once(timer, id, having)
  return {
    api,
    create,
    get,
    /** Opens an incident and waits until its clock is running. */
    async open(fields: object = {}) {
      const body = { title: 'Payments fail', ...fields }
      const incident = (await api.post('/itsm/incidents', body)).data(Incident)
      await clockUntil(incident.id, { state: 'running' })
      return incident
    },
    until: (id: string, having: object) => once(get, id, having),
    clockUntil,
  }
}

describe('escalations of an SLA policy', () => {
  it('are applied at the warning and at the breach, and a raised severity changes the goal', async () => {
    const { create, open, until, clockUntil } = workspace()
    await create({
      goalsBy: 'severity',
      goals: { medium: 60, critical: 50 },
      escalations: [
        { atPercent: 50, severity: 'critical', watcherIds: ['usr_one', 'usr_one'] },
        { atPercent: 100, assignmentGroup: 'duty', assigneeId: 'usr_lead', escalateTo: 'usr_boss' },
      ],
    })
    const { id, createdAt } = await open({ severity: 'medium' })
    moveTo(createdAt, 30)
    await until(id, { severity: 'critical', watcherIds: ['usr_one'], status: 'open' })
    await clockUntil(id, { goalKey: 'critical', cycle: 2 })
    moveTo(createdAt, 50)
    const after = await until(id, { assigneeId: 'usr_lead', watcherIds: ['usr_one', 'usr_boss'] })
    expect(after).toMatchObject({ assignmentGroup: 'duty', escalationLevel: 2, status: 'in_progress' })
    expect(await clockUntil(id, { breached: true })).toMatchObject({
      breachedAt: new Date(Date.parse(createdAt) + 50 * 60_000).toISOString(),
    })
  })

  it('are applied once, even if a reapplied policy reaches the threshold again', async () => {
    const { api, create, open, get, until, clockUntil } = workspace()
    const escalations = [
      { atPercent: 50, assigneeId: 'usr_lead' },
      { atPercent: 100, escalateTo: 'usr_boss' },
    ]
    const policy = (await create({ escalations })).data(SlaPolicy)
    const { id, createdAt } = await open()
    moveTo(createdAt, 30)
    await until(id, { assigneeId: 'usr_lead' })
    await api.patch(`/itsm/incidents/${id}`, { assigneeId: 'usr_other' })
    await api.patch(`/itsm/sla-policies/${policy.id}`, { goals: { all: 600 } })
    const applied = await waitFor(async () => {
      const path = `/itsm/sla-policies/${policy.id}/reapply`
      const answer = (await api.post(path, { dryRun: false })).data(SlaReapplied)
      return answer.remaining === 0 && answer
    })
    expect(applied.open).toBe(1)
    moveTo(createdAt, 300)
    const twice = [1, 2].map((cycle) => ({ cycle, percent: 50 }))
    await clockUntil(id, { goalMs: 36_000_000, fired: twice })
    moveTo(createdAt, 600)
    await until(id, { escalationLevel: 1, watcherIds: ['usr_boss'] })
    expect((await get(id)).assigneeId).toBe('usr_other')
  })

  it('that cannot work are rejected with their path', async () => {
    const { api, create } = workspace()
    const rule = { atPercent: 50, severity: 'critical' } as const
    const refusedFor = async (policy: Given) => {
      const { code, details } = (await create(policy)).error()
      return [code, details?.[0]?.path, details?.[0]?.code]
    }
    const refusal = (path: string, code: string) => ['validation_failed', path, code]
    const ofProblems: Given = { entityType: 'problem', goalsBy: 'all', escalations: [rule] }
    expect(await refusedFor(ofProblems)).toEqual(refusal('/escalations', 'unfit_escalations'))
    expect(await refusedFor({ escalations: [{ ...rule, atPercent: 75 }] })).toEqual(
      refusal('/escalations/0/atPercent', 'no_warning'),
    )
    expect(await refusedFor({ escalations: [rule, { atPercent: 100 }] })).toEqual(
      refusal('/escalations/1', 'does_nothing'),
    )
    expect(await refusedFor({ escalations: [{ ...rule, atPercent: 101 }] })).toEqual(
      refusal('/escalations/0/atPercent', 'too_big'),
    )
    expect(await refusedFor({ escalations: Array.from({ length: 11 }, () => rule) })).toEqual(
      refusal('/escalations', 'too_big'),
    )
    const policy = (await create({ escalations: [rule] })).data(SlaPolicy)
    expect(policy.escalations).toEqual([rule])
    const path = `/itsm/sla-policies/${policy.id}`
    const [detail] = (await api.patch(path, { warnings: [75] })).error().details
    expect([detail?.path, detail?.code]).toEqual(['/escalations/0/atPercent', 'no_warning'])
    const moved = { warnings: [75], escalations: [{ ...rule, atPercent: 75 }] }
    expect((await api.patch(path, moved)).data(SlaPolicy)).toMatchObject(moved)
    expect((await create({})).data(SlaPolicy).escalations).toEqual([])
  })
})
