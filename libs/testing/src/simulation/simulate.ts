import { InvariantError, type World } from './world.js'

/** One run from a seed, which throws InvariantError if an invariant is violated. */
export interface SimulatedRun {
  readonly world: World
  run(): Promise<void>
}

const maxLines = 400

/**
 * Runs `runs` seeds, or SIMULATION_SEEDS if that is set, up to the first that fails. Prints that seed with its history;
 * SIMULATION_SEED runs it alone.
 */
export async function simulate(runs: number, start: (seed: number) => SimulatedRun): Promise<void> {
  const { SIMULATION_SEED: replayed, SIMULATION_SEEDS: asked = String(runs) } = process.env
  const from = Number(replayed ?? 1)
  const failed = await failingSeed(replayed === undefined ? Number(asked) : 1, start, from)
  if (!failed) return
  const { seed, error, history } = failed
  const reason = error instanceof InvariantError ? error.message : String(error)
  const lastLines = history.slice(-maxLines).join('\n')
  throw new Error(`${reason}\nSIMULATION_SEED=${seed} replays it. What happened:\n${lastLines}`, {
    cause: error,
  })
}

/** The first failing seed of at most `maxSeeds`, with the error and the history. */
export async function failingSeed(maxSeeds: number, start: (seed: number) => SimulatedRun, from = 1) {
  for (let seed = from; seed < from + maxSeeds; seed++) {
    const one = start(seed)
    try {
      await one.run()
    } catch (error) {
      return { seed, error, history: one.world.history }
    }
  }
  return undefined
}
