import { describe, expect, it } from '@jest/globals'
import type { ChangePatch, ChangeStatus, ChangeType } from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import { change } from './domain.js'
import {
  after,
  agreedTemplate,
  changeIn,
  createCommand,
  facts,
  now,
  secondApprover,
  steps,
  template,
} from './sample-changes.fixture.js'

const { given } = specify(change)
const edit = (patch: ChangePatch) =>
  ({ kind: 'edit', userId: secondApprover, patch, facts, agreed: agreedTemplate, now }) as const

/** One patch for every field that an approval covers. */
const material: ChangePatch[] = [
  { title: 'Another' },
  { description: 'Why.' },
  { ciIds: ['ci_other'] },
  { plannedStart: '2026-03-07T23:00:00.000Z' },
  { plannedEnd: '2026-03-08T03:00:00.000Z' },
  { implementationPlan: 'Otherwise.' },
  { testPlan: 'Look.' },
  { backoutPlan: 'Otherwise.' },
  { impact: 'high' },
  { successProbability: 1 },
]
/** The fields among them that a standard change takes from its template. */
const ofTemplate = ['implementationPlan', 'testPlan', 'backoutPlan', 'impact', 'successProbability']
const materialTo = (type: ChangeType) =>
  material.filter(
    (patch) => type !== 'standard' || !Object.keys(patch).some((name) => ofTemplate.includes(name)),
  )
const plain: ChangePatch[] = [
  { assignmentGroup: 'db' },
  { problemId: 'prb_01JZ8Q4D3N5W7X9Y2B4C6D8E0F' },
  { assigneeId: 'usr_other' },
]
const before: [ChangeType, ChangeStatus][] = [
  ['normal', 'assess'],
  ['normal', 'authorize'],
  ['normal', 'scheduled'],
  ['emergency', 'authorize'],
  ['emergency', 'scheduled'],
  ['standard', 'scheduled'],
]

describe.each(before)('editing a %s change in %s', (type, status) => {
  const state = changeIn(type, status)

  it.each(materialTo(type))('voids its approvals with %j', (patch) => {
    const [decision, ...more] = given(state).when(edit(patch)).decisions()
    expect(more).toEqual([])
    expect(decision).toMatchObject({
      type: 'change.updated',
      after: { ...patch, status: 'draft', approvalPolicy: null, updatedAt: now },
      extras: { approvalsVoided: true },
    })
    expect(decision?.after?.approvals.map((approval) => approval.status)).toEqual(
      state.approvals.map(() => 'void'),
    )
    expect(decision?.after?.approvals.map(({ decisions }) => decisions)).toEqual(
      state.approvals.map(({ decisions }) => decisions),
    )
  })

  it.each(plain)('keeps its status with %j', (patch) => {
    const [decision] = given(state).when(edit(patch)).decisions()
    expect(decision).toMatchObject({ type: 'change.updated', after: { ...patch, status } })
    expect(decision?.extras).toBeUndefined()
  })

  it('rejects another type', () => {
    const other = type === 'normal' ? 'emergency' : 'normal'
    given(state)
      .when(edit({ type: other }))
      .fails('validation_failed')
  })
})

it('emits nothing for an edit that changes nothing', () => {
  const { title, ciIds, type } = changeIn('normal', 'scheduled')
  given(changeIn('normal', 'scheduled')).when(edit({ title, ciIds, type })).emits()
})

it('keeps approvals if items are reordered, or if a better success probability leaves the risk unchanged', () => {
  const state = changeIn('normal', 'scheduled', { ciIds: ['ci_a', 'ci_b'] })
  for (const patch of [{ ciIds: ['ci_b', 'ci_a'] }, { successProbability: 80 }])
    expect(given(state).when(edit(patch)).decisions()[0]?.after?.status).toBe('scheduled')
})

it('does not recompute the risk for an edit that does not affect it', () => {
  const grave = { ...facts, criticalities: ['critical' as const] }
  const [decision] = given(changeIn('normal', 'scheduled'))
    .when({ ...edit({ assignmentGroup: 'db' }), facts: grave })
    .decisions()
  expect(decision?.after).toMatchObject({ status: 'scheduled', risk: 'moderate' })
})

it('changes the type of a draft and recomputes its risk', () => {
  const grave = { ...facts, criticalities: ['critical' as const] }
  const [decision] = given(changeIn('normal', 'draft'))
    .when({ ...edit({ type: 'standard', templateId: template.id }), facts: grave })
    .decisions()
  expect(decision?.after).toMatchObject({ type: 'standard', templateId: template.id, risk: 'high' })
  given(changeIn('normal', 'draft'))
    .when(edit({ templateId: template.id }))
    .fails('validation_failed')
})

it('rejects the type "standard" for a change that was submitted for approval before', () => {
  const { submit, reject } = steps
  given(after(createCommand('normal'), submit, reject))
    .when(edit({ type: 'standard' }))
    .fails('validation_failed')
  const [decision] = given(after(createCommand('normal'), submit, reject))
    .when(edit({ type: 'emergency' }))
    .decisions()
  expect(decision?.after).toMatchObject({ type: 'emergency', status: 'draft' })
})

it.each([...material, { type: 'emergency' }, { templateId: 't' }, { reviewNotes: 'n' }] as ChangePatch[])(
  'rejects %j during implementation and on hold',
  (patch) => {
    const held = change.decide({ ...steps.hold, now }, changeIn('normal', 'scheduled'))[0]?.after ?? null
    for (const state of [changeIn('normal', 'implementing'), held])
      given(state).when(edit(patch)).fails('validation_failed')
  },
)

it('accepts notes during the review', () => {
  const notes = { reviewNotes: 'Longer than planned.', closeNotes: 'Done.' }
  given(changeIn('normal', 'review'))
    .when(edit(notes))
    .emits({ type: 'change.updated', changes: { ...notes, updatedAt: now } })
})
