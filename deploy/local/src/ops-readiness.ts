import { type Checks, readReadiness } from '@opsplane/http'
import { request } from 'undici'

const timeoutMs = 5_000

export interface ServiceStates {
  /** Each service: `up`, or why it is not ready. Empty where the gateway does not list them. */
  checks: Checks
  /** Of the gateway itself: `up`, or why it is not. */
  gateway: string
  /** What the gateway warns of. */
  warnings: string[]
}

/** The readiness of all services as the gateway at an origin reports it. Never throws: an unreachable gateway is a result. */
export async function serviceStates(origin: string): Promise<ServiceStates> {
  try {
    const answer = await request(new URL('/readyz', origin), { signal: AbortSignal.timeout(timeoutMs) })
    const report = readReadiness(answer.statusCode, await answer.body.json().catch(() => undefined))
    if (report === undefined) return { checks: {}, gateway: `answers ${answer.statusCode}`, warnings: [] }
    return { checks: report.checks ?? {}, gateway: report.state, warnings: report.warnings }
  } catch {
    return { checks: {}, gateway: `does not answer at ${origin}`, warnings: [] }
  }
}
