import { type Checks, readReadiness } from '@opsplane/http'
import { request } from 'undici'

const timeoutMs = 5_000

export interface ServiceStates {
  /** Each service: `up`, or what it says of itself. Empty where the gateway names none. */
  checks: Checks
  /** Of the gateway itself: `up`, or why it is not. */
  gateway: string
  /** What the gateway advises. */
  warnings: string[]
}

/** What the services say of themselves, as the gateway at an origin has it. Never throws: who asks wants to know what is wrong. */
export async function serviceStates(origin: string): Promise<ServiceStates> {
  try {
    const answer = await request(new URL('/readyz', origin), { signal: AbortSignal.timeout(timeoutMs) })
    const said = readReadiness(answer.statusCode, await answer.body.json().catch(() => undefined))
    if (said === undefined) return { checks: {}, gateway: `answers ${answer.statusCode}`, warnings: [] }
    return { checks: said.checks ?? {}, gateway: said.state, warnings: said.warnings }
  } catch {
    return { checks: {}, gateway: `does not answer at ${origin}`, warnings: [] }
  }
}
