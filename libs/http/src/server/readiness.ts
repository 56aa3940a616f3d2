import { ApiError, ErrorEnvelope } from '@opsplane/contracts'
import { z } from 'zod'

/** State of each dependency by name: `up`, or a description of the problem. */
export type Checks = Record<string, string>

const code = 'not_ready'
const prefix = 'Not ready: '
const Details = z.object({
  checks: z.record(z.string(), z.string()),
  warnings: z.array(z.string()).default([]),
})

/**
 * Response of `/readyz` while a dependency is down. The message names the ones that
 * are down; the details contain all checks.
 */
export function notReady(checks: Checks, warnings: readonly string[] = []): ApiError {
  const down = Object.entries(checks).filter(([, state]) => state !== 'up')
  const message = `${prefix}${down.map(([name, state]) => `${name} (${state})`).join(', ')}.`
  return new ApiError('service_unavailable', message, {
    details: [{ in: 'path', path: '', code, message, params: { checks, warnings } }],
  })
}

/** Readiness reported by another process: its checks, if it lists them, and a summary. */
interface ReportedReadiness {
  checks: Checks | undefined
  /** `up`, or why it is not ready. */
  state: string
  /** Configuration problems the operator should fix. */
  warnings: string[]
}

const maxCharacters = 300

/** Parses a response of `/readyz`; `undefined` if it is none. */
export function readReadiness(status: number, body: unknown): ReportedReadiness | undefined {
  if (status === 200) {
    const ready = z.object({ data: Details }).safeParse(body)
    const { checks, warnings = [] } = ready.data?.data ?? {}
    return { checks, state: 'up', warnings }
  }
  const envelope = ErrorEnvelope.safeParse(body)
  if (!envelope.success || !envelope.data.error.message.startsWith(prefix)) return undefined
  const { message, details } = envelope.data.error
  const parsedDetails = Details.safeParse(details.find((detail) => detail.code === code)?.params)
  const reason = message.slice(prefix.length).replace(/\.$/, '').slice(0, maxCharacters)
  const { checks, warnings = [] } = parsedDetails.data ?? {}
  return { checks, state: `not ready: ${reason}`, warnings }
}
