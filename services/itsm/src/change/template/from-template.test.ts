import { describe, expect, it } from '@jest/globals'
import { ApiError, type ChangePatch, type ChangeTemplateState } from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import type { ChangeRecord } from '../approval/separation-of-duties.js'
import type { ChangeCommand } from '../commands.js'
import { change } from '../domain.js'
import {
  agreedTemplate,
  changeIn,
  createCommand,
  facts,
  now,
  secondApprover,
  steps,
  template,
} from '../sample-changes.fixture.js'
import type { TemplateAgreement } from './from-template.js'

const { given } = specify(change)
const other: ChangeTemplateState = {
  ...template,
  id: 'ctp_01JZ8Q4D3N5W7X9Y2B4C6D8E1F',
  title: 'Firmware',
  implementationPlan: 'Flash it.',
  testPlan: 'Read the version.',
  backoutPlan: 'Flash the old one.',
  impact: 'high',
  successProbability: 60,
}
const texts = {
  implementationPlan: other.implementationPlan,
  testPlan: other.testPlan,
  backoutPlan: other.backoutPlan,
  impact: other.impact,
  successProbability: other.successProbability,
}
/** The agreement as read for a command, with the classes of three items. */
const found = (fields: Partial<ChangeTemplateState> = {}, of = other): TemplateAgreement => ({
  template: { ...of, ...fields },
  classes: new Map([
    ['ci_db', 'database'],
    ['ci_web', 'server'],
    ['ci_app', 'application'],
  ]),
})
/** Only the type and the template are given. */
const bare = {
  ...{ title: undefined, templateId: other.id },
  ...{ implementationPlan: undefined, backoutPlan: undefined },
}
const draftOf = (input: object, from: TemplateAgreement): ChangeCommand => ({
  ...createCommand('standard', { ...bare, ...input }),
  agreed: from,
})
const edit = (patch: ChangePatch, from: TemplateAgreement = found()) =>
  ({ kind: 'edit', userId: secondApprover, patch, facts, agreed: from, now }) as const
const submit = (from: TemplateAgreement = found()) => ({ ...steps.submit, agreed: from, now })
const after = (state: ChangeRecord | null, command: ChangeCommand): ChangeRecord => {
  const next = change.decide(command, state).at(-1)?.after
  if (!next) throw new Error('Nothing was decided.')
  return next
}
const draft = after(null, draftOf({}, found()))

/** The paths and codes of the errors with which a command is rejected. */
function refusals(state: ChangeRecord | null, command: ChangeCommand): [path: string, code: string][] {
  try {
    change.decide(command, state)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    expect(error.code).toBe('validation_failed')
    return error.details.map(({ path, code }) => [path, code])
  }
  return []
}

describe('a standard change', () => {
  it("is drafted with the texts of its template, and with the template's title if none is given", () => {
    expect(draft).toMatchObject({
      ...texts,
      title: 'Firmware',
      type: 'standard',
      templateId: other.id,
      risk: 'high',
    })
    expect(after(null, draftOf({ title: 'Firmware 2' }, found())).title).toBe('Firmware 2')
    expect(refusals(null, draftOf({}, found({ title: null })))).toEqual([['/title', 'required']])
  })

  it('accepts given texts only if they equal those of the template', () => {
    expect(after(null, draftOf(texts, found()))).toEqual(draft)
    const others = { implementationPlan: 'Mine.', testPlan: null, impact: 'low', successProbability: 60 }
    expect(refusals(null, draftOf(others, found()))).toEqual([
      ['/implementationPlan', 'from_template'],
      ['/testPlan', 'from_template'],
      ['/impact', 'from_template'],
    ])
  })

  it.each<[string, object, TemplateAgreement, string]>([
    ['none', { templateId: null }, agreedTemplate, 'required'],
    ['one that is not there', {}, { ...agreedTemplate, template: null }, 'not_found'],
    ['an inactive one', {}, found({ status: 'inactive' }), 'inactive'],
  ])('is neither drafted nor submitted from %s', (_, input, from, code) => {
    expect(refusals(null, draftOf({ title: 'T', ...input }, from))).toEqual([['/templateId', code]])
    expect(refusals({ ...draft, ...input }, submit(from))).toEqual([['/templateId', code]])
  })

  it('is limited to the duration and the item classes of its template', () => {
    const strict = { ciClasses: ['database', 'server'], maxDurationMinutes: 240 }
    const items = { ciIds: ['ci_db', 'ci_app', 'ci_web', 'ci_gone'] }
    const long = { plannedEnd: '2026-03-08T02:00:00.001Z' }
    expect(refusals(null, draftOf({ ciIds: ['ci_db', 'ci_web'] }, found(strict)))).toEqual([])
    const faults = [
      ['/plannedEnd', 'too_long'],
      ['/ciIds/1', 'wrong_class'],
    ]
    expect(refusals(null, draftOf({ ...items, ...long }, found(strict)))).toEqual(faults)
    expect(refusals(draft, edit({ ...items, ...long }, found(strict)))).toEqual(faults)
    const loose = after(null, draftOf({ ...items, ...long }, found()))
    expect(refusals(loose, submit(found(strict)))).toEqual(faults)
    expect(refusals(loose, submit())).toEqual([])
  })
})

describe('editing a standard change', () => {
  it('rejects changes to fields that come from the template', () => {
    for (const state of [draft, after(draft, submit())]) {
      const others: ChangePatch = {
        implementationPlan: 'Mine.',
        testPlan: null,
        backoutPlan: 'Mine.',
        impact: 'low',
      }
      expect(refusals(state, edit({ ...others, successProbability: null }))).toEqual([
        ['/implementationPlan', 'from_template'],
        ['/testPlan', 'from_template'],
        ['/backoutPlan', 'from_template'],
        ['/impact', 'from_template'],
        ['/successProbability', 'from_template'],
      ])
      expect(after(state, edit({ ...texts, title: 'Mine' }))).toMatchObject({ ...texts, title: 'Mine' })
      given(state).when(edit(texts)).emits()
    }
  })

  it('rejects only altered values that a restricted template no longer allows', () => {
    const state = after(null, draftOf({ ciIds: ['ci_db', 'ci_app'] }, found()))
    const tight = found({ ciClasses: ['database'], maxDurationMinutes: 60, status: 'inactive' })
    expect(after(state, edit({ title: 'Other', ciIds: ['ci_app', 'ci_db'] }, tight)).title).toBe('Other')
    expect(refusals(state, edit({ ciIds: ['ci_app', 'ci_web'] }, tight))).toEqual([
      ['/ciIds/1', 'wrong_class'],
    ])
    expect(refusals(state, edit({ plannedEnd: '2026-03-08T01:00:00.000Z' }, tight))).toEqual([
      ['/plannedEnd', 'too_long'],
    ])
    const gone = edit({ plannedEnd: '2026-03-09T01:00:00.000Z' }, { ...tight, template: null })
    expect(after(state, gone).plannedEnd).toBe('2026-03-09T01:00:00.000Z')
  })

  it('replaces the texts when the template is replaced', () => {
    const from = found({}, template)
    const next = after(draft, edit({ templateId: template.id }, from))
    expect(next).toMatchObject({
      ...{ templateId: template.id, title: 'Firmware', risk: 'moderate' },
      ...{ implementationPlan: 'Add, move, remove.', testPlan: null, impact: 'medium' },
    })
    expect(refusals(draft, edit({ templateId: template.id, impact: 'low' }, from))).toEqual([
      ['/impact', 'from_template'],
    ])
    expect(refusals(draft, edit({ templateId: null }))).toEqual([['/templateId', 'required']])
    expect(refusals(after(draft, submit()), edit({ templateId: template.id }, from))).toEqual([
      ['/templateId', 'not_editable'],
    ])
  })

  it('converts it to a normal change that keeps the texts, and back', () => {
    const normal = after(draft, edit({ type: 'normal' }))
    expect(normal).toMatchObject({ ...texts, type: 'normal', templateId: null })
    const own = after(normal, edit({ implementationPlan: 'Mine.' }))
    expect(own.implementationPlan).toBe('Mine.')
    expect(refusals(own, edit({ type: 'standard' }))).toEqual([['/templateId', 'required']])
    expect(refusals(draft, edit({ type: 'normal', templateId: other.id }))).toEqual([
      ['/templateId', 'not_standard'],
    ])
    const back = after(own, edit({ type: 'standard', templateId: other.id }))
    expect(back).toMatchObject({ ...texts, templateId: other.id })
  })
})

describe('submitting a standard change', () => {
  it('applies the current template and computes the risk from it', () => {
    const altered = {
      implementationPlan: 'Flash it twice.',
      testPlan: null,
      impact: 'low' as const,
      successProbability: 99,
    }
    expect(after(draft, submit(found(altered)))).toMatchObject({
      ...{ status: 'scheduled', approvals: [], approvalPolicy: null, risk: 'low', title: 'Firmware' },
      ...altered,
    })
  })

  it('requires a planned window before anything else', () => {
    const unplanned = after(null, draftOf({ plannedStart: null, plannedEnd: null }, found()))
    expect(refusals(unplanned, submit())).toEqual([
      ['/plannedStart', 'required'],
      ['/plannedEnd', 'required'],
    ])
  })
})

/** Standard changes as they were before templates existed. */
describe.each(['firmware', null])('a standard change whose templateId is %j', (templateId) => {
  const old = { ...draft, templateId, implementationPlan: null, testPlan: null }

  it('can be edited freely, and continues if it was submitted already', () => {
    const withoutTemplate: TemplateAgreement = { ...found(), template: null }
    const edited = after(
      old,
      edit({ implementationPlan: 'Mine.', impact: 'low', title: 'Mine' }, withoutTemplate),
    )
    expect(edited).toMatchObject({ implementationPlan: 'Mine.', impact: 'low', templateId })
    const scheduled: ChangeRecord = { ...old, status: 'scheduled' }
    expect(after(scheduled, edit({ assignmentGroup: 'db' }, withoutTemplate)).status).toBe('scheduled')
    expect(after(scheduled, { ...steps.implement, now }).status).toBe('implementing')
    expect(after(scheduled, edit({ backoutPlan: 'Mine.' }, withoutTemplate)).status).toBe('draft')
  })

  it('requires a template to be submitted', () => {
    const code = templateId === null ? 'required' : 'not_found'
    expect(refusals(old, submit({ ...found(), template: null }))).toEqual([['/templateId', code]])
    const given = after(old, edit({ templateId: other.id }))
    expect(given).toMatchObject(texts)
    expect(after(given, submit()).status).toBe('scheduled')
  })

  it('can be converted to a normal change', () => {
    expect(after(old, edit({ type: 'normal' }))).toMatchObject({ type: 'normal', templateId: null })
  })
})

it('rejects a template for any other type of change', () => {
  for (const type of ['normal', 'emergency'] as const) {
    const state = changeIn(type, 'draft')
    expect(state).toMatchObject({ templateId: null, impact: 'medium', testPlan: null })
    expect(refusals(state, edit({ templateId: other.id }))).toEqual([['/templateId', 'not_standard']])
  }
})
