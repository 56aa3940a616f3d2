import { type Checks, readReadiness } from '@opsplane/http'
import { type Dispatcher, request } from 'undici'

const timeoutMs = 2_000
/**
 * Milliseconds for which a result is cached. Probes are not rate limited, and each round
 * causes a statement in every service.
 */
const keptMs = 1_000

/**
 * Returns the readiness of every service: `up`, or a description of the problem. Queries
 * services at most once a second.
 */
export function createReadiness(
  urls: Readonly<Record<string, string>>,
  agent: Dispatcher,
  monotonicMs: () => number,
): () => Promise<Checks> {
  let round: { startedAt: number; checks: Promise<Checks> } | undefined
  const readAll = async (): Promise<Checks> => {
    const states = Object.entries(urls).map(
      async ([name, url]) => [name, await readState(url, agent)] as const,
    )
    return Object.fromEntries(await Promise.all(states))
  }
  return () => {
    const now = monotonicMs()
    if (round === undefined || now - round.startedAt >= keptMs) round = { startedAt: now, checks: readAll() }
    return round.checks
  }
}

async function readState(url: string, dispatcher: Dispatcher): Promise<string> {
  try {
    const { statusCode, body } = await request(new URL('/readyz', url), {
      dispatcher,
      signal: AbortSignal.timeout(timeoutMs),
    })
    const report = readReadiness(statusCode, await body.json().catch(() => undefined))
    return report?.state ?? `answers ${statusCode}`
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError'
    return isLate ? `does not answer within ${timeoutMs / 1_000} s` : 'does not answer'
  }
}
