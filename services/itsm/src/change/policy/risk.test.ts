import { describe, expect, it } from '@jest/globals'
import { type ChangeRisk, type Criticality, changeRisks, criticalities, levels } from '@opsplane/contracts'
import { computeRisk } from './risk.js'

const nothing = { criticalities: [], past: { changes: 0, failed: 0 } }
const safe = { impact: 'low', successProbability: 100 } as const
const riskBy = (facts: Partial<typeof nothing> | { criticalities: Criticality[] }): ChangeRisk =>
  computeRisk(safe, { ...nothing, ...facts }).risk

describe('risk by impact and success probability', () => {
  it.each([
    ['high', 100, 'moderate'],
    ['high', 90, 'moderate'],
    ['high', 89, 'high'],
    ['high', null, 'high'],
    ['high', 1, 'high'],
    ['medium', 90, 'low'],
    ['medium', 89, 'moderate'],
    ['medium', 70, 'moderate'],
    ['medium', null, 'moderate'],
    ['medium', 69, 'high'],
    ['low', 90, 'low'],
    ['low', 70, 'low'],
    ['low', null, 'low'],
    ['low', 69, 'moderate'],
  ] as const)('for %s impact with %s %% success is %s', (impact, successProbability, risk) => {
    expect(computeRisk({ impact, successProbability }, nothing).risk).toBe(risk)
  })

  it('never decreases with a higher impact or a lower success probability', () => {
    const rank = (impact: (typeof levels)[number], successProbability: number) =>
      changeRisks.indexOf(computeRisk({ impact, successProbability }, nothing).risk)
    for (let percent = 1; percent < 100; percent += 1)
      for (const [index, impact] of levels.entries()) {
        expect(rank(impact, percent)).toBeGreaterThanOrEqual(rank(impact, percent + 1))
        expect(rank(levels[index - 1] ?? impact, percent)).toBeGreaterThanOrEqual(rank(impact, percent))
      }
  })
})

it('risk increases with the most critical item', () => {
  const by = (...given: Criticality[]) => riskBy({ criticalities: given })
  expect(criticalities.map((one) => by(one))).toEqual(['high', 'moderate', 'low', 'low'])
  expect(by('low', 'critical', 'medium')).toBe('high')
})

it.each([
  [0, 0, 'low'],
  [20, 0, 'low'],
  [20, 1, 'low'],
  [20, 2, 'moderate'],
  [20, 6, 'high'],
  [2, 2, 'moderate'],
  [3, 1, 'high'],
] as const)(
  'with %s past changes of its items, %s of them failed, the risk is %s',
  (changes, failed, risk) => {
    expect(riskBy({ past: { changes, failed } })).toBe(risk)
  },
)

it('the highest risk of all engines is used, and the result of each engine is reported', () => {
  const facts = { criticalities: ['high' as const], past: { changes: 10, failed: 5 } }
  expect(computeRisk(safe, facts)).toEqual({
    risk: 'high',
    riskFactors: [
      { factor: 'impact_and_probability', risk: 'low', message: 'low impact, 100 % success' },
      { factor: 'ci_criticality', risk: 'moderate', message: 'highest criticality of its items: high' },
      { factor: 'past_failures', risk: 'high', message: '5 of the last 10 changes of its items failed' },
    ],
  })
})
