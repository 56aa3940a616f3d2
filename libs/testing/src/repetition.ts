import { isDeepStrictEqual } from 'node:util'
import { waitFor } from './wait-for.js'

/** The parts of a response that are compared with its repetition. */
export interface RepeatedAnswer {
  status: number
  /** The envelope. */
  body: unknown
  header(name: string): string | null | undefined
}

const keyed = new Set(['POST', 'PATCH', 'PUT'])

/** Whether a request has an Idempotency-Key and took effect, so that it can be repeated without another effect. */
export function isRepeatable(
  { method, headers }: { method: string; headers: Record<string, unknown> },
  status: number,
): boolean {
  const hasKey = Object.keys(headers).some((name) => name.toLowerCase() === 'idempotency-key')
  return hasKey && keyed.has(method) && status < 300
}

/** The response to the same request, once no other request with its key is in progress. */
export function repeatedAnswer(sendRequest: () => Promise<RepeatedAnswer>): Promise<RepeatedAnswer> {
  return waitFor(async () => {
    const answer = await sendRequest()
    return text(answer.body)?.includes('"idempotency_in_progress"') ? undefined : answer
  })
}

/**
 * Differences between a response and that of a repetition with the same Idempotency-Key; empty if there are none.
 * Secrets shown only once are `null` in the repetition.
 */
export function repetitionProblems(first: RepeatedAnswer, again: RepeatedAnswer): string[] {
  const problems: string[] = []
  const compare = (part: string, sent: unknown, repeated: unknown) => {
    if (isDeepStrictEqual(sent, repeated)) return
    problems.push(`the repetition answers another ${part}: ${text(repeated)} instead of ${text(sent)}`)
  }
  compare('status', first.status, again.status)
  for (const name of ['etag', 'location'])
    compare(name, first.header(name) ?? null, again.header(name) ?? null)
  const sent = withoutMeta(first.body)
  compare('body', asRepeated(sent, secretsIn(sent)), withoutMeta(again.body))
  if (again.header('idempotency-replayed') !== 'true' && first.header('idempotency-replayed') !== 'true')
    problems.push('the repetition was performed once more')
  return problems
}

const text = (value: unknown) => JSON.stringify(value)?.slice(0, 1_000)

function withoutMeta(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body
  const { meta: _, ...rest } = body as { meta?: unknown }
  return rest
}

const secretName = /^(secret|token)$/

function secretsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, field]) =>
    typeof field === 'string' && secretName.test(name) && !field.includes('{{') ? [field] : secretsIn(field),
  )
}

/** Replaces values that are or contain a secret, such as a URL, by `null`. */
function asRepeated(value: unknown, secrets: string[]): unknown {
  if (typeof value === 'string') return secrets.some((secret) => value.includes(secret)) ? null : value
  if (Array.isArray(value)) return value.map((item) => asRepeated(item, secrets))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, asRepeated(field, secrets)]))
}
