import { ApiError, ErrorEnvelope } from '@opsplane/contracts'
import { z } from 'zod'

/** Each dependency by its name: `up`, or what is wrong with it. */
export type Checks = Record<string, string>

const code = 'not_ready'
const prefix = 'Not ready: '
const Details = z.object({
  checks: z.record(z.string(), z.string()),
  warnings: z.array(z.string()).default([]),
})

/** What `/readyz` answers while a dependency is down. Names those in its message, and has all checks in its details. */
export function notReady(checks: Checks, warnings: readonly string[] = []): ApiError {
  const down = Object.entries(checks).filter(([, state]) => state !== 'up')
  const message = `${prefix}${down.map(([name, state]) => `${name} (${state})`).join(', ')}.`
  return new ApiError('service_unavailable', message, {
    details: [{ in: 'path', path: '', code, message, params: { checks, warnings } }],
  })
}

/** The readiness another process reports: its checks, where it lists them, and a summary. */
interface ReportedReadiness {
  checks: Checks | undefined
  /** `up`, or why it is not ready. */
  state: string
  /** What its operator should change. */
  warnings: string[]
}

const maxCharacters = 300

/** Reads an answer of `/readyz`; undefined for one that is none. */
export function readReadiness(status: number, body: unknown): ReportedReadiness | undefined {
  if (status === 200) {
    const ready = z.object({ data: Details }).safeParse(body)
    const { checks, warnings = [] } = ready.data?.data ?? {}
    return { checks, state: 'up', warnings }
  }
  const refused = ErrorEnvelope.safeParse(body)
  if (!refused.success || !refused.data.error.message.startsWith(prefix)) return undefined
  const { message, details } = refused.data.error
  const named = Details.safeParse(details.find((detail) => detail.code === code)?.params)
  const reason = message.slice(prefix.length).replace(/\.$/, '').slice(0, maxCharacters)
  const { checks, warnings = [] } = named.data ?? {}
  return { checks, state: `not ready: ${reason}`, warnings }
}
