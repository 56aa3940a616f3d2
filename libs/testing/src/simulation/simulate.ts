import { InvariantError, type World } from './world.js'

/** One run from a seed, which throws InvariantError where something does not hold. */
export interface SimulatedRun {
  readonly world: World
  run(): Promise<void>
}

export interface SimulateOptions {
  /** So many seeds, or SIMULATION_SEEDS where that is more. */
  runs: number
  /** Never more than so many. */
  most?: number
  run(seed: number): SimulatedRun
}

const mostLines = 400

/**
 * Runs one seed after the other, from SIMULATION_SEED on, up to the first that fails: its seed is printed with what happened, and is
 * all it takes to see the same again.
 */
export async function simulate({
  runs,
  most = Number.POSITIVE_INFINITY,
  run,
}: SimulateOptions): Promise<void> {
  const from = Number(process.env.SIMULATION_SEED ?? 1)
  const isReplay = process.env.SIMULATION_SEED !== undefined
  const asked = isReplay ? 1 : Math.max(runs, Number(process.env.SIMULATION_SEEDS ?? 0))
  for (let seed = from; seed < from + Math.min(asked, most); seed++) {
    const one = run(seed)
    try {
      await one.run()
    } catch (error) {
      const history = one.world.history.slice(-mostLines).join('\n')
      const reason = error instanceof InvariantError ? error.message : String(error)
      throw new Error(
        `${reason}\nIt happens again with SIMULATION_SEED=${seed}. What happened:\n${history}`,
        {
          cause: error,
        },
      )
    }
  }
}
