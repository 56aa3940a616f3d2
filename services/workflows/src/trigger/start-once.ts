import { canonicalJson, idTime } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import { sha256Hex } from '@opsplane/runtime'
import type { Runs } from '../run/runs.js'
import type { StartRequest } from '../run/start.js'

/** As long as responses to requests with an idempotency key are kept. */
const keptMs = 24 * 3_600_000

/**
 * Starts a run manually. While idempotency keys are kept, the same request with the same key finds the run it has
 * started, even if the response was lost; later it starts another run.
 */
export async function startOnce(
  runs: Pick<Runs, 'start'>,
  request: Omit<StartRequest, 'triggerKey'>,
  { meta: { repetitionKey, now }, body }: { meta: Pick<RequestMeta, 'repetitionKey' | 'now'>; body: unknown },
): Promise<{ runId: string; created: boolean }> {
  if (repetitionKey === undefined) return runs.start({ ...request, triggerKey: null })
  const key = `manual/${repetitionKey}/${sha256Hex(canonicalJson(body))}`
  const since = Date.parse(now) - keptMs
  let started = await runs.start({ ...request, triggerKey: key })
  // Each run that is too old for the key leads to the run started in its place.
  while (!started.created && idTime(started.runId) < since)
    started = await runs.start({ ...request, triggerKey: `${key}/${started.runId}` })
  return started
}
