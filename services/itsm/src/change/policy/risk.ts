import type { ChangeRisk, ChangeRiskFactor, ChangeState, Criticality, Level } from '@opsplane/contracts'
import { changeRisks } from '@opsplane/contracts'

/** Facts beyond the change itself that the risk is computed from. */
export interface RiskFacts {
  /** Criticalities of the items the change touches. */
  criticalities: readonly Criticality[]
  /**
   * Number of the latest changes of the same items that have an
   * outcome, and how many of them failed or were rolled back.
   */
  past: { changes: number; failed: number }
}

export type RiskInput = Pick<ChangeState, 'impact' | 'successProbability'>

type Engine = (change: RiskInput, facts: RiskFacts) => ChangeRiskFactor

const engines: readonly Engine[] = [impactAndProbability, ciCriticality, pastFailures]

/** Each risk engine computes a risk; the highest one counts. */
export function computeRisk(change: RiskInput, facts: RiskFacts): Pick<ChangeState, 'risk' | 'riskFactors'> {
  const riskFactors = engines.map((engine) => engine(change, facts))
  return { risk: highest(riskFactors.map(({ risk }) => risk)), riskFactors }
}

type Chance = 'good' | 'fair' | 'poor'
const byImpact: Record<Level, Record<Chance, ChangeRisk>> = {
  high: { good: 'moderate', fair: 'high', poor: 'high' },
  medium: { good: 'low', fair: 'moderate', poor: 'high' },
  low: { good: 'low', fair: 'low', poor: 'moderate' },
}

/** A missing success probability counts as medium. */
function impactAndProbability({ impact, successProbability }: RiskInput): ChangeRiskFactor {
  const chance =
    successProbability === null ? 'fair' : successProbability >= 90 ? 'good' : chanceBelow(successProbability)
  const known = successProbability === null ? 'success not judged' : `${successProbability} % success`
  return {
    factor: 'impact_and_probability',
    risk: byImpact[impact][chance],
    message: `${impact} impact, ${known}`,
  }
}

const chanceBelow = (percent: number): Chance => (percent >= 70 ? 'fair' : 'poor')

const byCriticality: Record<Criticality, ChangeRisk> = {
  critical: 'high',
  high: 'moderate',
  medium: 'low',
  low: 'low',
}

function ciCriticality(_: RiskInput, { criticalities }: RiskFacts): ChangeRiskFactor {
  const risk = highest(criticalities.map((criticality) => byCriticality[criticality]))
  const highestCriticality = (['critical', 'high', 'medium', 'low'] as const).find((one) =>
    criticalities.includes(one),
  )
  const message = highestCriticality
    ? `highest criticality of its items: ${highestCriticality}`
    : 'it has no items'
  return { factor: 'ci_criticality', risk, message }
}

/** One failure among one or two changes is too little evidence for a high risk. */
function pastFailures(_: RiskInput, { past: { changes, failed } }: RiskFacts): ChangeRiskFactor {
  const rate = changes === 0 ? 0 : failed / changes
  const risk = rate >= 0.3 && changes >= 3 ? 'high' : rate >= 0.1 ? 'moderate' : 'low'
  const message = `${failed} of the last ${changes} changes of its items failed`
  return { factor: 'past_failures', risk, message }
}

function highest(risks: readonly ChangeRisk[]): ChangeRisk {
  return changeRisks.findLast((risk) => risks.includes(risk)) ?? 'low'
}
