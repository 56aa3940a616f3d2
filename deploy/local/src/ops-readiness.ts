import { type Checks, readReadiness } from '@opsplane/http'
import { request } from 'undici'

const timeoutMs = 5_000

export interface ServiceStates {
  /** `up` for each service, or the reason it is not ready. Empty if the gateway does not list them. */
  checks: Checks
  /** `up` for the gateway itself, or the reason it is not. */
  gateway: string
  /** Warnings of the gateway. */
  warnings: string[]
}

/**
 * Readiness of all services, as reported by the gateway at `origin`. Never throws: an unreachable gateway is a
 * result.
 */
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
