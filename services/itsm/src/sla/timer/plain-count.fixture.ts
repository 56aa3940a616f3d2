import type { SlaGoalKey, SlaPolicyState } from '@opsplane/contracts'
import type { WallClock } from './oracle.fixture.js'

/** The reports of a clock with their instants, in the order of reporting. */
export type Tally = { percent: number; at: number }[]

/** The expected result of a clock, computed in the simplest way: every figure from the start, minute by minute. */
export function plainCount(policy: SlaPolicyState, wall: WallClock, firstKey: SlaGoalKey | undefined) {
  const unitMs = policy.goalUnit === 'minutes' ? 60_000 : 86_400_000
  const runs: { from: number; to: number }[] = []
  const reported: Tally = []
  const ever = new Set<number>()
  let known = new Set<number>()
  let key = firstKey

  const reached = (percent: number): number | null => {
    const goalMs = (key === undefined ? 0 : (policy.goals[key] ?? 0)) * unitMs
    let left = (goalMs * percent) / 100
    for (const { from, to } of runs) {
      const counted = wall.between(from, to)
      if (counted >= left) return wall.add(from, left)
      left -= counted
    }
    return null
  }
  const tell = (before: number) => {
    for (const percent of [...policy.warnings, 100]) {
      const at = known.has(percent) ? null : reached(percent)
      if (at === null || at >= before) continue
      known.add(percent)
      ever.add(percent)
      reported.push({ percent, at })
    }
  }
  return {
    reported,
    run: (from: number, to: number) => void runs.push({ from, to }),
    tell,
    /**
     * Changes the goal from an instant on, if it differs. Thresholds that were already reported and are in the past
     * under the new goal stay reported.
     */
    retarget(wanted: SlaGoalKey | undefined, at: number) {
      if (wanted === key) return
      key = wanted
      known = new Set([...ever].filter((percent) => (reached(percent) ?? Number.NaN) <= at))
      tell(at)
    },
    breached: () => known.has(100),
    elapsed: () => runs.reduce((sum, { from, to }) => sum + wall.between(from, to), 0),
  }
}
