import { expect, it } from '@jest/globals'
import { ChangeTemplatePatch, NewChangeTemplate } from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import { now } from '../sample-changes.fixture.js'
import { type ChangeTemplateCommand, changeTemplate } from './template.js'

const { given } = specify(changeTemplate)
const plans = { implementationPlan: 'Swap it.', backoutPlan: 'Swap it back.' }
const create: ChangeTemplateCommand = {
  kind: 'create',
  id: 'ctp_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
  input: NewChangeTemplate.parse({ name: ' Swap a disk ', ...plans }),
  now,
}
const state = changeTemplate.decide(create, null)[0]?.after ?? null
const later = '2026-03-02T11:00:00.000Z'

it('allows any item and any duration by default', () => {
  expect(state).toEqual({
    ...{ id: 'ctp_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', name: 'Swap a disk', description: null, status: 'active' },
    ...{ title: null, testPlan: null, impact: 'low', successProbability: null, ...plans },
    ...{ ciClasses: null, maxDurationMinutes: null, createdAt: now, updatedAt: now },
  })
})

it('emits its changed fields, and nothing for a patch that changes nothing', () => {
  given(state)
    .when({ kind: 'patch', patch: { ciClasses: ['server'], testPlan: 'Look.' }, now: later })
    .emits({
      type: 'change_template.updated',
      changes: { ciClasses: ['server'], testPlan: 'Look.', updatedAt: later },
    })
  given(state)
    .when({ kind: 'patch', patch: { name: 'Swap a disk', ...plans }, now: later })
    .emits()
  given(state).when({ kind: 'delete' }).emits({ type: 'change_template.deleted', changes: null })
  given(null).when({ kind: 'delete' }).fails('not_found')
  given(null).when({ kind: 'patch', patch: {}, now }).fails('not_found')
})

it.each([
  { name: '  ' },
  { implementationPlan: null },
  { backoutPlan: ' ' },
  { ciClasses: [] },
  { ciClasses: Array.from({ length: 51 }, (_, index) => `class_${index}`) },
  { ciClasses: ['Server'] },
  { maxDurationMinutes: 0 },
  { maxDurationMinutes: 1.5 },
  { successProbability: 101 },
  { approvals: [] },
])('rejects %j', (fields) => {
  expect(NewChangeTemplate.safeParse({ name: 'Swap a disk', ...plans, ...fields }).success).toBe(false)
  expect(ChangeTemplatePatch.safeParse(fields).success).toBe(false)
})
