import { describe, expect, it, test } from '@jest/globals'
import { ApiError, type ChangeWindowState, NewChangeWindow } from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import type { z } from 'zod'
import { changeWindow } from './domain.js'

const { given } = specify(changeWindow)
const by = { id: 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', name: 'Ada', type: 'user' } as const
const id = 'win_01JZ8Q4D3N5W7X9Y2B4C6D8E0F'
const createdAt = '2026-03-02T09:00:00.000Z'
const now = '2026-03-03T09:00:00.000Z'
const span = { from: '2026-12-20T00:00:00.000Z', to: '2027-01-03T00:00:00.000Z' }
const recurrence = {
  timeZone: 'Europe/Berlin',
  weekdays: ['saturday' as const],
  from: '22:00',
  to: '04:00',
  validFrom: null,
  validUntil: null,
}
const freeze: ChangeWindowState = {
  ...{
    id,
    name: 'Freeze',
    kind: 'blackout',
    ciIds: null,
    classes: null,
    span,
    recurrence: null,
    reason: null,
  },
  ...{
    status: 'active',
    startsAt: span.from,
    endsAt: span.to,
    createdBy: by,
    createdAt,
    updatedAt: createdAt,
  },
}
const create = (fields: Partial<z.input<typeof NewChangeWindow>>) => {
  const input = NewChangeWindow.parse({ name: 'Freeze', kind: 'blackout', ...fields })
  return { kind: 'create', id, by, input, now: createdAt } as const
}

describe('a change window', () => {
  it('is created once or weekly, by default active and for all items', () => {
    given(null).when(create({ span })).emits({ type: 'change_window.created', changes: freeze })
    const weekly = { ...freeze, span: null, recurrence, startsAt: null, endsAt: null }
    given(null).when(create({ recurrence })).emits({ type: 'change_window.created', changes: weekly })
  })

  it('converts the dates of its span to midnight in its time zone', () => {
    const days = { from: '2026-12-20', to: '2027-01-03', timeZone: 'Europe/Berlin' }
    const instants = { from: '2026-12-19T23:00:00.000Z', to: '2027-01-02T23:00:00.000Z' }
    const changed = { span: instants, startsAt: instants.from, endsAt: instants.to }
    given(null)
      .when(create({ span: days }))
      .emits({ type: 'change_window.created', changes: { ...freeze, ...changed } })
    given(freeze)
      .when({ kind: 'patch', patch: { span: days }, now })
      .emits({ type: 'change_window.updated', changes: { ...changed, updatedAt: now } })
  })

  it('replaces its span with a recurrence', () => {
    given(freeze)
      .when({ kind: 'patch', patch: { recurrence }, now })
      .emits({
        type: 'change_window.updated',
        changes: { span: null, recurrence, startsAt: null, endsAt: null, updatedAt: now },
      })
  })

  it('emits nothing for a patch that changes nothing', () => {
    given(freeze)
      .when({ kind: 'patch', patch: { name: 'Freeze', span: { ...span, timeZone: 'UTC' } }, now })
      .emits()
  })

  it('is deleted', () => {
    given(freeze).when({ kind: 'delete' }).emits({ type: 'change_window.deleted', changes: null })
    given(null).when({ kind: 'delete' }).fails('not_found')
  })

  test.each([
    ['both a span and a recurrence', { span, recurrence }, '/span'],
    ['neither of them', {}, '/span'],
    ['an end before its beginning', { span: { from: span.to, to: span.from } }, '/span/to'],
    ['an unknown zone', { recurrence: { ...recurrence, timeZone: 'Moon/Tycho' } }, '/recurrence/timeZone'],
    [
      'dates between which it is never on',
      { recurrence: { ...recurrence, validFrom: '2026-03-29', validUntil: '2026-04-03' } },
      '/recurrence/validUntil',
    ],
  ])('with %s is rejected', (_, fields, path) => {
    given(null).when(create(fields)).fails('validation_failed')
    expect(() => changeWindow.decide(create(fields), null)).toThrow(ApiError)
    const error = (() => {
      try {
        return changeWindow.decide(create(fields), null)
      } catch (thrown) {
        return thrown
      }
    })()
    expect(error).toMatchObject({ details: [{ path }] })
  })
})
