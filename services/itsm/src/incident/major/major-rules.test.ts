import { describe, expect, it } from '@jest/globals'
import { ItsmSettingsPatch, type MajorRule } from '@opsplane/contracts'
import { incidents } from '../sample-incidents.fixture.js'
import { affectsRules, findProposalReason, type MajorRuleInput, mayMatch } from './major-rules.js'

const rules: MajorRule[] = [
  { name: 'Pressing family', priorities: ['P1', 'P2'], minChildren: 2 },
  { name: 'Most pressing', priorities: ['P1'] },
  { name: 'Heart', criticalities: ['critical', 'high'], priorities: ['P1', 'P2', 'P3'] },
  { name: 'Many', minChildren: 1 },
]
const incident: MajorRuleInput = { priority: 'P4', childCount: 0, criticality: null }

describe('a rule for major incidents', () => {
  it.each<[Partial<MajorRuleInput>, string | undefined]>([
    [{}, undefined],
    [{ priority: 'P1' }, 'Most pressing: priority P1.'],
    [{ priority: 'P1', childCount: 2 }, 'Pressing family: priority P1, 2 children.'],
    [{ priority: 'P2', childCount: 1 }, 'Many: 1 child.'],
    [{ priority: 'P3', criticality: 'high' }, 'Heart: priority P3, an item of high criticality.'],
    [{ priority: 'P3', criticality: 'medium' }, undefined],
    [{ priority: 'P4', criticality: 'critical' }, undefined],
  ])('with %j proposes: %s', (fields, reason) => {
    expect(findProposalReason(rules, { ...incident, ...fields })).toBe(reason)
  })

  it('is evaluated only if it may match and if a relevant field has changed', () => {
    const { open } = incidents
    expect(mayMatch(rules, { ...open, priority: 'P3' })).toBe(false)
    expect(mayMatch(rules, { ...open, priority: 'P3', ciId: 'ci_1' })).toBe(true)
    expect(mayMatch(rules, { ...open, priority: 'P1' })).toBe(true)
    expect(mayMatch([], { ...open, priority: 'P1', childCount: 100 })).toBe(false)
    expect([
      affectsRules(null, []),
      affectsRules({}, ['title']),
      affectsRules({}, ['title', 'ciId']),
    ]).toEqual([true, false, true])
  })

  it('requires at least one condition', () => {
    const refused = (rule: object) => !ItsmSettingsPatch.safeParse({ majorRules: [rule] }).success
    expect(refused({ name: 'Everything' })).toBe(true)
    expect(refused({ name: 'None', priorities: [] })).toBe(true)
    expect(refused({ priorities: ['P1'] })).toBe(true)
    expect(refused({ name: 'Most pressing', priorities: ['P1'] })).toBe(false)
  })
})
