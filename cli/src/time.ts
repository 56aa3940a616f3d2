const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }
const duration = /^(\d{1,9})\s*(ms|s|m|h|d|w)$/
const ago = /\s+ago$/
const isoTime =
  /^\d{4}-\d{2}-\d{2}(?<time>T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?<offset>Z|[+-]\d{2}:\d{2})?)?$/i

/** Parses `500ms`, `15m`, `2h` or `7d` to milliseconds; `undefined` if the text is not a duration. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit] = duration.exec(text.trim()) ?? []
  return unit === undefined ? undefined : Number(amount) * unitMs[unit as keyof typeof unitMs]
}

/**
 * Parses `2026-01-31`, `2026-01-31T08:00Z` or, relative to now, `15m` and `7d ago`; `undefined` if the text is not an
 * instant. A time without an offset is UTC, like all times that the CLI prints.
 */
export function parseInstant(text: string, nowMs: number): string | undefined {
  const trimmed = text.trim()
  const back = parseDuration(trimmed.replace(ago, ''))
  if (back !== undefined) return instant(nowMs - back)
  const match = isoTime.exec(trimmed)
  if (!match) return undefined
  const { time, offset } = match.groups ?? {}
  return instant(Date.parse(time === undefined || offset ? trimmed : `${trimmed}Z`))
}

/** Years of more than four digits sort incorrectly, and the API rejects them. */
function instant(ms: number): string | undefined {
  const date = new Date(ms)
  if (Number.isNaN(date.getTime())) return undefined
  const text = date.toISOString()
  return text.length === 24 ? text : undefined
}
