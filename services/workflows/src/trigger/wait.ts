import type { TriggeredRun } from '@opsplane/contracts'
import { z } from 'zod'
import type { Runs } from '../run/runs.js'

const maxWaitSeconds = 20

export const WaitQuery = z.object({
  wait: z.coerce
    .number()
    .int()
    .min(0)
    .max(maxWaitSeconds)
    .default(0)
    .meta({ description: 'Seconds the answer waits for the run to end, which it then tells of.' }),
})

/** The run as it is, or as it came out where it has ended within so many seconds. */
export async function answerOf(
  runs: Pick<Runs, 'waitForEnd'>,
  { runId, created }: { runId: string; created: boolean },
  seconds: number,
  signal: AbortSignal,
): Promise<TriggeredRun> {
  const end = seconds === 0 ? undefined : await runs.waitForEnd(runId, seconds * 1_000, signal)
  if (end === undefined) return { runId, created, ended: false, status: null, output: null, error: null }
  // What an ended run put out is JSON.
  const output = end.output as TriggeredRun['output']
  return { runId, created, ended: true, status: end.status, output, error: end.error }
}
