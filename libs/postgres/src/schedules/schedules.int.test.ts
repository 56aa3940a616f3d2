import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import {
  type DueWorkGroup,
  findSchedule,
  pauseSchedule,
  removeSchedule,
  resumeSchedule,
  upsertSchedule,
} from '../index.js'
import { type ScratchSchedules, scheduleOwner, scratchSchedules, spec, tenant } from './scratch.fixture.js'

let scratch: ScratchSchedules
beforeAll(async () => {
  scratch = await scratchSchedules('schedules_test')
})
afterEach(async () => {
  scratch.state.failing = undefined
  await scratch.admin`truncate schedules, schedule_fires, runs`
})
afterAll(() => scratch?.close())

const on = (day: string) => `2026-05-${day}:00.000Z`
const hourly = { cron: '0 * * * *' }
/** A schedule since half past nine on the first of May. */
const scheduled = (id: string, fields: object) =>
  upsertSchedule(scratch.sql, scheduleOwner(id), spec(fields), { at: on('01T09:30') })
const ended = async (id: string, instants: string[]) => {
  for (const instant of instants) {
    await scratch.lookAt(on(instant))
    await scratch.end(id)
  }
}

describe('a schedule', () => {
  it('starts a run at each of its times, and reports the next one', async () => {
    expect(await scheduled('wf_a', hourly)).toMatchObject({
      paused: false,
      nextAt: on('01T10:00'),
      lastAt: null,
    })
    await ended('wf_a', ['01T09:59', '01T10:00', '01T10:00', '01T10:30', '01T11:00'])
    expect(await scratch.begun('wf_a')).toEqual(['01T10:00 start', '01T11:00 start'])
    const status = await findSchedule(scratch.sql, scheduleOwner('wf_a'))
    expect(status).toMatchObject({ nextAt: on('01T12:00'), lastAt: on('01T11:00'), schedule: spec(hourly) })
  })

  it('counts an interval from when it was set, and ends at its endAt', async () => {
    const endAt = '2026-05-01T09:31:10Z'
    const status = await scheduled('wf_a', { everySeconds: 60, endAt })
    expect(status).toMatchObject({ nextAt: on('01T09:31') })
    await scheduled('wf_a', { everySeconds: 60, endAt })
    await ended('wf_a', ['01T09:31', '01T09:32'])
    expect(await scratch.begun('wf_a')).toEqual(['01T09:31 start'])
    expect(await findSchedule(scratch.sql, scheduleOwner('wf_a'))).toMatchObject({ nextAt: null })
  })

  it('keeps its due time when it is saved unchanged, and is planned again when it has changed', async () => {
    await scheduled('wf_a', hourly)
    const again = await upsertSchedule(scratch.sql, scheduleOwner('wf_a'), spec(hourly), {
      at: on('01T12:30'),
    })
    expect(again.nextAt).toBe(on('01T10:00'))
    const other = await upsertSchedule(scratch.sql, scheduleOwner('wf_a'), spec({ cron: '15 * * * *' }), {
      at: on('01T12:30'),
    })
    expect(other.nextAt).toBe(on('01T13:15'))
    await scratch.lookAt(on('01T13:00'))
    expect(await scratch.begun('wf_a')).toEqual([])
  })

  it('does not fire while it is paused, does not make up for that, and is gone when it is removed', async () => {
    await scheduled('wf_a', { ...hourly, misfire: 'all' })
    const owner = scheduleOwner('wf_a')
    expect(await pauseSchedule(scratch.sql, owner)).toMatchObject({ paused: true, nextAt: null })
    await ended('wf_a', ['01T10:00', '01T12:00'])
    expect(await resumeSchedule(scratch.sql, owner, { at: on('01T12:10') })).toMatchObject({
      nextAt: on('01T13:00'),
    })
    await ended('wf_a', ['01T12:30', '01T13:00'])
    expect(await scratch.begun('wf_a')).toEqual(['01T13:00 start'])
    expect([await removeSchedule(scratch.sql, owner), await removeSchedule(scratch.sql, owner)]).toEqual([
      true,
      false,
    ])
    await scratch.lookAt(on('01T14:00'))
    expect(await scratch.begun('wf_a')).toHaveLength(1)
    expect(await findSchedule(scratch.sql, owner)).toBeUndefined()
    expect(await resumeSchedule(scratch.sql, owner)).toBeUndefined()
  })

  it.each([
    { ...tenant, workspaceId: 'ws_b' },
    { ...tenant, environment: 'staging' as const },
  ])('is accessible only to its owner, not to %j', async (other) => {
    await scheduled('wf_a', hourly)
    const stranger = scheduleOwner('wf_a', other)
    expect(await findSchedule(scratch.sql, stranger)).toBeUndefined()
    expect(await pauseSchedule(scratch.sql, stranger)).toBeUndefined()
    expect(await removeSchedule(scratch.sql, stranger)).toBe(false)
    await expect(upsertSchedule(scratch.sql, stranger, spec(hourly))).rejects.toThrow('another tenant')
    expect(await findSchedule(scratch.sql, scheduleOwner('wf_a'))).toMatchObject({ paused: false })
  })

  it('does not block others when its run cannot be started, and starts it later for the same time', async () => {
    for (const id of ['wf_a', 'wf_b', 'wf_c']) await scheduled(id, hourly)
    scratch.state.failing = 'wf_b'
    await scratch.lookAt(on('01T10:00'))
    expect([await scratch.begun('wf_a'), await scratch.begun('wf_b'), await scratch.begun('wf_c')]).toEqual([
      ['01T10:00 start'],
      [],
      ['01T10:00 start'],
    ])
    expect(await scratch.decided('wf_b')).toEqual([])
    scratch.state.failing = undefined
    await scratch.lookAt(on('01T10:05'))
    expect(await scratch.begun('wf_b')).toEqual(['01T10:00 start'])
  })
})

describe('an outage from 10:00 to 15:30', () => {
  it.each([
    ['skip', []],
    ['once', ['01T15:00 start']],
    ['all', ['01T12:00 start', '01T13:00 start', '01T14:00 start', '01T15:00 start']],
  ])('is made up for with misfire %s', async (misfire, begun) => {
    await scheduled('wf_a', { ...hourly, misfire, maxCatchUp: 4, overlap: 'cancel_previous' })
    await scratch.lookAt(on('01T15:30'))
    const made = (await scratch.begun('wf_a')).map((each) => each.replace('replace', 'start'))
    expect(made).toEqual(begun)
    await scratch.lookAt(on('01T16:00'))
    expect(await scratch.begun('wf_a')).toHaveLength(begun.length + 1)
  })
})

describe('a run that is still active when the next time comes', () => {
  it.each([
    ['skip', ['01T10:00 start', '01T13:00 start'], ['start', 'skip', 'skip', 'start']],
    ['queue', ['01T10:00 start', '01T11:00 queue', '01T12:00 queue', '01T13:00 start'], undefined],
    [
      'cancel_previous',
      ['01T10:00 start', '01T11:00 replace', '01T12:00 replace', '01T13:00 start'],
      undefined,
    ],
  ])('is handled with overlap %s', async (overlap, begun, decided) => {
    await scheduled('wf_a', { ...hourly, overlap })
    for (const instant of ['01T10:00', '01T11:00', '01T12:00']) await scratch.lookAt(on(instant))
    await scratch.end('wf_a')
    await scratch.lookAt(on('01T13:00'))
    expect(await scratch.begun('wf_a')).toEqual(begun)
    expect(await scratch.decided('wf_a')).toEqual(decided ?? begun.map((each) => each.split(' ')[1]))
  })

  it('queues no more runs than the schedule allows', async () => {
    await scheduled('wf_a', { ...hourly, overlap: 'queue', maxCatchUp: 2 })
    for (const instant of ['10', '11', '12', '13', '14']) await scratch.lookAt(on(`01T${instant}:00`))
    expect(await scratch.decided('wf_a')).toEqual(['start', 'queue', 'queue', 'skip', 'skip'])
  })
})

describe('two replicas, one of which restarts repeatedly', () => {
  it('start each time once and miss none', async () => {
    const [schedules, minutes] = [10, 40]
    const start = Date.parse(on('01T09:30'))
    let passed = 0
    // Advances with each poll of the workers, so that no time is skipped.
    const now = () => new Date(start + Math.min(passed++ * 5_000, (minutes + 1) * 60_000)).toISOString()
    const everyMinute = { cron: '* * * * *', misfire: 'all', maxCatchUp: 100, overlap: 'cancel_previous' }
    for (let index = 0; index < schedules; index++) await scheduled(`wf_${index}`, everyMinute)
    const steady: DueWorkGroup = scratch.replica(now)
    let other = scratch.replica(now)
    const expected = schedules * minutes
    const count = async () => (await scratch.admin`select count(*)::int as runs from runs`)[0]?.runs as number
    for (let restarts = 0; (await count()) < expected; restarts++) {
      await other.close(0)
      other = scratch.replica(now)
      if (restarts > 3_000) throw new Error(`only ${await count()} of ${expected} came`)
    }
    await Promise.all([steady.close(), other.close()])
    const [row] = await scratch.admin`
      select count(distinct (owner_id, fire_at))::int as times, count(*)::int as runs,
        count(distinct fire_at)::int as minutes from runs where fire_at <= ${on('01T10:10')}`
    expect(row).toEqual({ times: expected, runs: expected, minutes })
  })
})
