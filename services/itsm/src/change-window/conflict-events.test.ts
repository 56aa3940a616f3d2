import { describe, expect, it, test } from '@jest/globals'
import { type ChangeConflict, type ChangeStatus, changeStatuses } from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import { change } from '../change/domain.js'
import { changeIn, now, paths, steps } from '../change/sample-changes.fixture.js'
import { pendingStatuses } from './conflict-events.js'

const { given } = specify(change)
const period = { from: '2026-03-07T22:00:00.000Z', to: '2026-03-08T02:00:00.000Z' }
const sameItem: ChangeConflict = {
  kind: 'same_ci',
  with: 'chg_2',
  ciIds: ['web'],
  message: 'CHG-2.',
  ...period,
}
const freeze: ChangeConflict = {
  ...{
    kind: 'blackout',
    with: 'win_1',
    ciIds: [],
    message: 'The blackout "Freeze" allows no changes at this time.',
  },
  ...period,
}
const shifted = { ...sameItem, to: '2026-03-08T01:00:00.000Z' }
const scheduled = changeIn('standard', 'scheduled')
const notice = (...conflicts: ChangeConflict[]) => ({ kind: 'update_conflicts', conflicts, now }) as const

describe('a pending change', () => {
  it('emits change.conflict_detected for new conflicts', () => {
    const collided = { ...scheduled, conflicts: [sameItem] }
    given(collided)
      .when(notice(freeze, shifted))
      .emits({
        type: 'change.conflict_detected',
        changes: { conflicts: [freeze, shifted], updatedAt: now },
        extras: { newConflicts: [freeze] },
      })
  })

  test.each<[string, ChangeConflict[]]>([
    ['that have shifted', [freeze, shifted]],
    ['that are gone', [freeze]],
  ])('emits change.updated for conflicts %s', (_, conflicts) => {
    given({ ...scheduled, conflicts: [freeze, sameItem] })
      .when(notice(...conflicts))
      .emits({ type: 'change.updated', changes: { conflicts, updatedAt: now } })
  })

  it('emits nothing for known conflicts', () => {
    given({ ...scheduled, conflicts: [freeze] })
      .when(notice(freeze))
      .emits()
  })

  test.each(changeStatuses)('is notified of conflicts only in a pending status: %s', (status) => {
    for (const type of ['standard', 'normal', 'emergency'] as const) {
      if (!paths[type][status]) continue
      const reported = given(changeIn(type, status)).when(notice(freeze)).decisions()
      expect([type, reported.length]).toEqual([type, Number(pendingStatuses.includes(status))])
    }
  })
})

describe.each<['submit' | 'implement', ChangeStatus]>([
  ['submit', 'draft'],
  ['implement', 'scheduled'],
])('the action %s', (action, status) => {
  const refusing = { acceptConflicts: false }
  const accepting = { acceptConflicts: true, reason: 'The board agreed.' }
  const when = (type: 'standard' | 'normal' | 'emergency', conflicts: ChangeConflict[], acceptance: object) =>
    given(changeIn(type, status)).when({
      ...steps[action],
      clash: { conflicts, acceptance: { ...refusing, ...acceptance } },
      now,
    })

  test.each(['standard', 'normal'] as const)(
    'of a %s change is rejected in a blackout, and the error names it',
    (type) => {
      when(type, [sameItem, freeze], refusing).fails('conflict', { windowId: 'win_1', ...period })
    },
  )

  it('succeeds if the blackout is accepted, and its event contains the reason', () => {
    const [decision] = when('normal', [freeze, sameItem], accepting).decisions()
    const acceptedConflicts = { reason: 'The board agreed.', conflicts: [freeze] }
    expect(decision?.extras).toEqual({ acceptedConflicts })
  })

  test.each<['standard' | 'emergency', ChangeConflict[]]>([
    ['emergency', [freeze]],
    ['standard', [sameItem]],
    ['standard', []],
  ])('of a %s change needs no acceptance of conflicts that do not block it', (type, conflicts) => {
    const [decision] = when(type, conflicts, accepting).decisions()
    expect(decision?.extras).toBeUndefined()
    if (action === 'submit') expect(decision?.after?.conflicts).toEqual(conflicts)
  })

  it('is rejected for an invalid status before conflicts are checked', () => {
    given(changeIn('standard', 'closed'))
      .when({ ...steps[action], clash: { conflicts: [freeze], acceptance: refusing }, now })
      .fails('invalid_state_transition')
  })
})
