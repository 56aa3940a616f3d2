import { maxRunWaitSeconds, type TriggeredRun } from '@opsplane/contracts'
import { z } from 'zod'
import type { Runs } from '../run/runs.js'

export const WaitQuery = z.object({
  wait: z.coerce
    .number()
    .int()
    .min(0)
    .max(maxRunWaitSeconds)
    .default(0)
    .meta({
      description:
        'Maximum time in seconds to wait for the run to end, so that the response contains its outcome. If the run ' +
        'is paused, for example for an approval, the response is sent immediately: `ended` is false and `status` is ' +
        '`paused`.',
    }),
})

/** Returns the run, with its outcome if it has ended or been paused within this many seconds. */
export async function waitForRun(
  runs: Pick<Runs, 'waitForRest'>,
  { runId, created }: { runId: string; created: boolean },
  seconds: number,
  signal: AbortSignal,
): Promise<TriggeredRun> {
  const rest = seconds === 0 ? undefined : await runs.waitForRest(runId, seconds * 1_000, signal)
  const answer = { runId, created, ended: false, status: rest?.status ?? null, output: null, error: null }
  if (rest === undefined || rest.status === 'paused') return answer
  // The output of an ended run is JSON.
  return { ...answer, ended: true, output: rest.output as TriggeredRun['output'], error: rest.error }
}
