import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  Change,
  ChangeCalendar,
  ChangeConflicts,
  ChangeSlots,
  ChangeWindow,
  ConfigurationItem,
  newId,
  type PlatformEvent,
} from '@opsplane/contracts'
import {
  type EventRecorder,
  recordEvents,
  startTestService,
  type TestService,
  testPrincipal,
  waitFor,
} from '@opsplane/testing'
import { itsm } from '../../service.js'
import { newTemplate } from '../template/template.fixture.js'

/** A Monday. */
const now = '2026-06-01T08:00:00.000Z'
let service: TestService
let recorder: EventRecorder
beforeAll(async () => {
  service = await startTestService(itsm, { overrides: { clock: { now: () => now } } })
  recorder = await recordEvents(service.natsPrefix)
})
afterAll(async () => {
  await recorder?.stop()
  await service?.stop()
})

const day = (date: number, from: number, to: number) => ({
  plannedStart: `2026-06-0${date}T${String(from).padStart(2, '0')}:00:00.000Z`,
  plannedEnd: `2026-06-0${date}T${String(to).padStart(2, '0')}:00:00.000Z`,
})

/** A separate workspace. Its changes are standard changes, which need no approval, unless overridden. */
function workspace() {
  const api = service.as(testPrincipal())
  const template = newTemplate(api)
  const item = async (ciClass = 'server') =>
    (await api.post('/cmdb/items', { class: ciClass, name: newId('ci'), status: 'operational' })).data(
      ConfigurationItem,
    ).id
  const dependsOn = (sourceId: string, targetId: string) =>
    api.post('/cmdb/relations', { type: 'depends_on', sourceId, targetId })
  const draft = async (fields: object) => {
    const standard = { type: 'standard', templateId: await template }
    const body = { title: 'New disks', ...('type' in fields ? {} : standard), ...fields }
    return (await api.post('/itsm/changes', body)).data(Change)
  }
  const submit = (id: string, body: object = {}) => api.post(`/itsm/changes/${id}/submit`, body)
  const scheduled = async (fields: object) => (await submit((await draft(fields)).id)).data(Change)
  const change = async (id: string) => (await api.get(`/itsm/changes/${id}`)).data(Change)
  const window = async (fields: object) =>
    (await api.post('/itsm/change-windows', { name: 'Freeze', kind: 'blackout', ...fields })).data(
      ChangeWindow,
    )
  const live = async (id: string) =>
    (await api.get(`/itsm/changes/${id}/conflicts`)).data(ChangeConflicts).conflicts
  /** Waits until the change has exactly these conflicts. */
  const keeps = (id: string, ...expected: [kind: string, other: string | null][]) =>
    waitFor(async () => {
      const found = await change(id)
      expect(found.conflicts.map(({ kind, with: other }) => [kind, other])).toEqual(expected)
      return found
    })
  return { api, item, dependsOn, draft, submit, scheduled, change, window, live, keeps }
}

const reported = (id: string): PlatformEvent[] =>
  recorder.published.map(({ event }) => event).filter(({ resource }) => resource.id === id)
const typesOf = (id: string) => reported(id).map(({ type }) => type.replace('change.', ''))
const span = { from: '2026-06-05T00:00:00.000Z', to: '2026-06-06T00:00:00.000Z' }

describe('a submitted change', () => {
  it('records its conflicts, which do not block it', async () => {
    const { item, dependsOn, scheduled, live } = workspace()
    const [web, database, disk] = [await item(), await item(), await item()]
    await dependsOn(web, database)
    await dependsOn(database, disk)
    const first = await scheduled({ ...day(3, 10, 12), ciIds: [web], assigneeId: 'usr_ada' })
    const second = await scheduled({ ...day(3, 11, 13), ciIds: [disk], assigneeId: 'usr_ada' })
    expect(first.conflicts).toEqual([])
    expect(second).toMatchObject({ status: 'scheduled' })
    expect(second.conflicts).toMatchObject([
      {
        kind: 'dependent_ci',
        with: first.id,
        ciIds: [disk],
        from: '2026-06-03T11:00:00.000Z',
        to: '2026-06-03T12:00:00.000Z',
      },
      { kind: 'assignee_busy', with: first.id },
    ])
    expect(await live(second.number)).toEqual(second.conflicts)
  })

  it('conflicts with both halves of a redundant pair, although either could fail alone', async () => {
    const { api, item, dependsOn, scheduled } = workspace()
    const [pair, one] = [await item('service'), await item()]
    for (const half of [one, await item()]) await dependsOn(pair, half)
    await api.patch(`/cmdb/items/${pair}`, { redundancy: { depends_on: { minUp: 1 } } })
    await scheduled({ ...day(3, 10, 12), ciIds: [pair] })
    expect((await scheduled({ ...day(3, 10, 12), ciIds: [one] })).conflicts).toMatchObject([
      { kind: 'dependent_ci' },
    ])
  })

  it('is rejected in a blackout unless the blackout is accepted with a reason', async () => {
    const { item, draft, submit, window } = workspace()
    const ciId = await item()
    const { id: windowId } = await window({ span, ciIds: [ciId] })
    const { id } = await draft({ ...day(5, 10, 12), ciIds: [ciId] })
    const refused = (await submit(id)).error()
    expect(refused).toMatchObject({ code: 'conflict', details: [{ code: 'blackout', params: { windowId } }] })
    expect(refused.message).toContain('"Freeze"')
    expect((await submit(id, { acceptConflicts: true })).error().code).toBe('validation_failed')
    const accepted = (await submit(id, { acceptConflicts: true, reason: 'The disks fail.' })).data(Change)
    expect(accepted).toMatchObject({ status: 'scheduled', conflicts: [{ kind: 'blackout', with: windowId }] })
    const event = await waitFor(() => reported(id).find(({ type }) => type === 'change.submitted'))
    expect(event.data.acceptedConflicts).toMatchObject({
      reason: 'The disks fail.',
      conflicts: [{ with: windowId }],
    })
    expect((await submit((await draft({ ...day(6, 0, 2), ciIds: [ciId] })).id)).status).toBe(200)
  })

  it('of type emergency is accepted in a blackout, which is still reported as a conflict', async () => {
    const { draft, submit, window } = workspace()
    await window({ span })
    const { id } = await draft({ ...day(5, 10, 12), type: 'emergency' })
    expect((await submit(id)).data(Change).conflicts).toMatchObject([{ kind: 'blackout' }])
  })

  it('cannot be implemented in a blackout that was created later', async () => {
    const { api, scheduled, window, keeps } = workspace()
    const { id } = await scheduled(day(5, 10, 12))
    const { id: windowId } = await window({ span: { from: now, to: '2026-06-02T00:00:00.000Z' } })
    expect(await keeps(id)).toMatchObject({ status: 'scheduled' })
    const begin = (body?: object) => api.post(`/itsm/changes/${id}/implement`, body)
    expect((await begin()).error()).toMatchObject({ code: 'conflict', details: [{ params: { windowId } }] })
    expect((await begin({ acceptConflicts: true, reason: 'Cannot wait.' })).data(Change).status).toBe(
      'implementing',
    )
  })
})

describe('a pending change', () => {
  it('is notified once of a new conflicting change, and drops the conflict when that is canceled', async () => {
    const { api, item, scheduled, draft, submit, keeps } = workspace()
    const ciIds = [await item()]
    const { id } = await scheduled({ ...day(3, 10, 12), ciIds })
    const other = await draft({ ...day(3, 11, 13), ciIds })
    await submit(other.id)
    await keeps(id, ['same_ci', other.id])
    await api.patch(`/itsm/changes/${other.id}`, { assignmentGroup: 'disks' })
    await api.post(`/itsm/changes/${other.id}/cancel`)
    await keeps(id)
    await waitFor(() => typesOf(id).length === 4)
    expect(typesOf(id)).toEqual(['created', 'submitted', 'conflict_detected', 'updated'])
    const [, , detected] = reported(id)
    // If both changes exist already, either submission may be the cause.
    const causes = [...reported(id), ...reported(other.id)].filter(({ type }) => type === 'change.submitted')
    expect(causes.map((event) => event.id)).toContain(detected?.causationId)
    expect(detected).toMatchObject({
      actor: { type: 'system' },
      data: {
        changes: expect.arrayContaining(['conflicts']),
        newConflicts: [{ kind: 'same_ci', with: other.id }],
      },
    })
  })

  it('is notified of windows that are created, moved and deleted', async () => {
    const { api, item, scheduled, window, keeps } = workspace()
    const ciId = await item('database')
    const { id } = await scheduled({ ...day(5, 10, 12), ciIds: [ciId] })
    const freeze = await window({ span, classes: ['database'] })
    await keeps(id, ['blackout', freeze.id])
    const nights = { timeZone: 'Europe/Berlin', weekdays: ['saturday'], from: '22:00', to: '04:00' }
    const upkeep = await window({ kind: 'maintenance', recurrence: nights, ciIds: [ciId] })
    await keeps(id, ['blackout', freeze.id], ['outside_maintenance', null])
    await api.patch(`/itsm/change-windows/${freeze.id}`, {
      span: { from: span.to, to: '2026-06-07T00:00:00.000Z' },
    })
    await keeps(id, ['outside_maintenance', null])
    await api.send('DELETE', `/itsm/change-windows/${upkeep.id}`)
    await keeps(id)
    await waitFor(() => typesOf(id).length === 6)
    expect(typesOf(id).slice(2)).toEqual(['conflict_detected', 'conflict_detected', 'updated', 'updated'])
  })

  it('conflicts only within its workspace and environment', async () => {
    const [here, there] = [workspace(), workspace()]
    const { id } = await here.scheduled({ ...day(5, 10, 12), assigneeId: 'usr_ada' })
    await there.window({ span })
    const other = await there.draft({ ...day(5, 10, 12), assigneeId: 'usr_ada' })
    await there.submit(other.id, { acceptConflicts: true, reason: 'Somewhere else.' })
    expect((await there.api.get(`/itsm/changes/${id}/conflicts`)).error().code).toBe('not_found')
    const own = await here.scheduled({ ...day(5, 11, 13), assigneeId: 'usr_ada' })
    await here.keeps(id, ['assignee_busy', own.id])
    expect(own.conflicts.map(({ with: with_ }) => with_)).toEqual([id])
  })
})

describe('change planning', () => {
  it('offers time slots without conflicts', async () => {
    const { api, item, draft, scheduled, window } = workspace()
    const ciIds = [await item()]
    const nights = {
      timeZone: 'Europe/Berlin',
      weekdays: ['tuesday', 'thursday'],
      from: '22:00',
      to: '02:00',
    }
    await window({ kind: 'maintenance', recurrence: nights })
    await window({ span: { from: '2026-06-04T20:00:00Z', to: '2026-06-04T21:05:00Z' } })
    await scheduled({
      ciIds,
      plannedStart: '2026-06-02T20:00:00.000Z',
      plannedEnd: '2026-06-02T22:30:00.000Z',
    })
    const { number } = await draft({ ciIds })
    const found = (await api.get(`/itsm/changes/${number}/slots?durationMinutes=90&within=7`)).data(
      ChangeSlots,
    )
    expect(found).toEqual({
      durationMinutes: 90,
      slots: [
        { from: '2026-06-02T22:30:00.000Z', to: '2026-06-03T00:00:00.000Z' },
        { from: '2026-06-04T21:15:00.000Z', to: '2026-06-04T22:45:00.000Z' },
      ],
    })
  })

  it('shows the changes and windows within a span of time', async () => {
    const { api, draft, scheduled, window } = workspace()
    const one = await scheduled(day(3, 10, 12))
    await scheduled(day(5, 10, 12))
    await draft(day(3, 10, 12))
    const nights = {
      timeZone: 'Europe/Berlin',
      weekdays: ['tuesday', 'wednesday'],
      from: '22:00',
      to: '02:00',
    }
    const { id } = await window({ kind: 'maintenance', recurrence: nights })
    await window({ span, status: 'inactive' })
    const query = 'from=2026-06-02T22:00:00Z&to=2026-06-05T10:00:00Z'
    const calendar = (await api.get(`/itsm/change-calendar?${query}`)).data(ChangeCalendar)
    expect(calendar.changes.map((change) => change.id)).toEqual([one.id])
    expect(calendar.windows.map((window) => [window.id, window.from, window.to])).toEqual([
      [id, '2026-06-02T20:00:00.000Z', '2026-06-03T00:00:00.000Z'],
      [id, '2026-06-03T20:00:00.000Z', '2026-06-04T00:00:00.000Z'],
    ])
    expect(calendar.truncated).toBe(false)
    const month = (await api.get('/itsm/change-calendar')).data(ChangeCalendar)
    expect(month).toMatchObject({ from: now, to: '2026-07-02T08:00:00.000Z' })
    expect(month.changes).toHaveLength(2)
    for (const to of ['2026-06-02T22:00:00Z', '2026-09-03T00:00:00Z'])
      expect((await api.get(`/itsm/change-calendar?from=2026-06-02T22:00:00Z&to=${to}`)).error().code).toBe(
        'validation_failed',
      )
  })
})
