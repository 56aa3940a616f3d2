import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { defaultPriorityMatrix, ItsmSettings, type Principal } from '@opsplane/contracts'
import { startTestService, type TestService, testPrincipal, waitFor } from '@opsplane/testing'
import { itsm } from '../service.js'

let service: TestService

beforeAll(async () => {
  service = await startTestService(itsm)
})
afterAll(() => service?.stop())

const path = '/itsm/settings'
const desk = (overrides: Partial<Principal> = {}) => {
  const principal = testPrincipal(overrides)
  return { principal, api: service.as(principal) }
}

it('returns the defaults until settings are changed', async () => {
  const { api } = desk()
  const reply = await api.get(path)
  expect(reply.data(ItsmSettings)).toMatchObject({
    priorityMatrix: defaultPriorityMatrix,
    autoCloseDays: 7,
    resolutionRequired: false,
    createdAt: null,
    version: 0,
  })
  expect(reply.headers.get('etag')).toBe('"0"')
})

it('changes the given fields, and keeps the others', async () => {
  const { api } = desk()
  const { id } = (await api.get(path)).data(ItsmSettings)
  const changed = (await api.patch(path, { autoCloseDays: 0 })).data(ItsmSettings)
  expect(changed).toMatchObject({ id, autoCloseDays: 0, resolutionRequired: false, version: 1 })
  const again = (await api.patch(path, { resolutionRequired: true })).data(ItsmSettings)
  expect(again).toMatchObject({ id, autoCloseDays: 0, resolutionRequired: true, version: 2 })
  expect(again.createdAt).toBe(changed.createdAt)
  expect((await api.patch(path, { autoCloseDays: 0 })).data(ItsmSettings).version).toBe(2)
  expect((await api.get(path)).data(ItsmSettings)).toEqual(again)
  const rows = await service.sql`select type, data from events where stream_id = ${id} order by version`
  expect(rows.map(({ type, data }) => [type, data.changes, data.before.autoCloseDays])).toEqual([
    ['itsm_settings.updated', expect.arrayContaining(['autoCloseDays']), 7],
    ['itsm_settings.updated', expect.arrayContaining(['resolutionRequired']), 0],
  ])
})

it('reads settings as of a past instant', async () => {
  const { api } = desk()
  const first = (await api.patch(path, { autoCloseDays: 3 })).data(ItsmSettings)
  await waitFor(() => Date.now() > Date.parse(first.updatedAt ?? ''), { intervalMs: 1 })
  await api.patch(path, { autoCloseDays: 5 })
  const asOf = async (instant: string) => (await api.get(`${path}?asOf=${instant}`)).data(ItsmSettings)
  expect(await asOf(first.updatedAt ?? '')).toEqual(first)
  expect(await asOf('2020-01-01T00:00:00.000Z')).toMatchObject({ autoCloseDays: 7, version: 0 })
})

it('keeps settings separate per workspace and environment', async () => {
  const { api, principal } = desk()
  await api.patch(path, { autoCloseDays: 30 })
  const staging = service.as({ ...principal, environment: 'staging' })
  expect((await staging.get(path)).data(ItsmSettings).autoCloseDays).toBe(7)
  expect((await desk().api.get(path)).data(ItsmSettings).autoCloseDays).toBe(7)
})

it('accepts one of many concurrent changes with the same If-Match, also for the first change', async () => {
  const { api } = desk()
  for (const version of [0, 1]) {
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        api.patch(path, { autoCloseDays: 10 + 20 * version + at }, { 'If-Match': `"${version}"` }),
      ),
    )
    const statuses = replies.map(({ status }) => status).toSorted()
    expect(statuses).toEqual([200, ...Array<number>(9).fill(412)])
  }
})

it('applies all concurrent changes without If-Match', async () => {
  const { api } = desk()
  await Promise.all([
    api.patch(path, { autoCloseDays: 3 }),
    api.patch(path, { resolutionRequired: true }),
    api.patch(path, { priorityMatrix: { ...defaultPriorityMatrix, low: defaultPriorityMatrix.high } }),
  ])
  expect((await api.get(path)).data(ItsmSettings)).toMatchObject({
    autoCloseDays: 3,
    resolutionRequired: true,
    priorityMatrix: { low: { low: 'P3' } },
    version: 3,
  })
})

it('rejects values that are out of range, incomplete or unknown', async () => {
  const { api } = desk()
  for (const [body, field] of [
    [{ autoCloseDays: 366 }, '/autoCloseDays'],
    [{ autoCloseDays: -1 }, '/autoCloseDays'],
    [{ priorityMatrix: { high: { high: 'P1', medium: 'P2', low: 'P3' } } }, '/priorityMatrix/medium'],
    [{ priorityMatrix: { ...defaultPriorityMatrix, urgent: {} } }, '/priorityMatrix'],
    [{ version: 3 }, '/version'],
  ] as const) {
    const error = (await api.patch(path, body)).error()
    expect([error.code, error.details[0]?.path]).toEqual([
      'validation_failed',
      expect.stringContaining(field),
    ])
  }
  expect((await api.get(path)).data(ItsmSettings).version).toBe(0)
})

it('requires itsm:read to read and itsm:manage to change settings', async () => {
  const { api } = desk({ permissions: ['itsm:read', 'itsm:write'] })
  expect((await api.get(path)).status).toBe(200)
  expect((await api.patch(path, { autoCloseDays: 3 })).error().code).toBe('insufficient_scope')
  const writer = desk({ permissions: ['itsm:write', 'itsm:manage'] }).api
  expect((await writer.get(path)).error().code).toBe('insufficient_scope')
})

it('restores identical rows when settings are rebuilt from their events', async () => {
  const rows = () => service.sql`select id, version, state from itsm_settings order by id`
  const before = [...(await rows())]
  expect(before.length).toBeGreaterThan(0)
  await service.sql`delete from itsm_settings`
  await service.rebuild()
  expect([...(await rows())]).toEqual(before)
})
