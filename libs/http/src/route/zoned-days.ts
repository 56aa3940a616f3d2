import { invalidField, MomentOrDay, TimeZoneName } from '@opsplane/contracts'
import { instantIn } from '@opsplane/runtime'
import type { z } from 'zod'

/** Time zone of a query's dates, if the query has no such parameter itself. */
const TimeZoneOfDays = TimeZoneName.default('UTC').meta({
  description: 'Time zone, as an IANA name, that determines when a date given in place of an instant begins.',
  example: 'Europe/Berlin',
})

function isMomentOrDay(schema: z.core.$ZodType): boolean {
  if (schema === MomentOrDay) return true
  const { def } = schema._zod
  return 'innerType' in def && isMomentOrDay(def.innerType as z.core.$ZodType)
}

const momentsOf = (query: z.ZodObject) =>
  Object.entries(query.shape).flatMap(([name, schema]) => (isMomentOrDay(schema) ? [name] : []))

/** Adds a `timeZone` parameter to a query that accepts dates as instants. */
export const withTimeZone = (query: z.ZodObject): z.ZodObject =>
  momentsOf(query).length === 0 || 'timeZone' in query.shape
    ? query
    : query.safeExtend({ timeZone: TimeZoneOfDays })

/** Converts dates in a parsed query to instants, so that handlers only receive instants. */
export function zonedDays(query: z.ZodObject): (parsed: unknown) => unknown {
  const names = momentsOf(query)
  if (names.length === 0) return (parsed) => parsed
  const isAdded = query.shape.timeZone === TimeZoneOfDays
  return (parsed) => {
    const { timeZone = 'UTC', ...rest } = parsed as Record<string, unknown>
    const instants = names.flatMap((name) => {
      const value = rest[name]
      return typeof value === 'string' ? [[name, instantIn(String(timeZone), value)] as const] : []
    })
    return { ...(isAdded ? rest : (parsed as object)), ...Object.fromEntries(instants) }
  }
}

interface Bounds {
  from?: string | undefined
  to?: string | undefined
}

/**
 * The time span in a body, as instants: a date stands for the start of that day in the zone. Throws
 * `validation_failed` unless the span ends after it begins.
 */
export function spanIn<Given extends Bounds>(
  timeZone: string,
  { from, to }: Given,
): Pick<Given, 'from' | 'to'> {
  const span = {
    from: from === undefined ? from : instantIn(timeZone, from),
    to: to === undefined ? to : instantIn(timeZone, to),
  }
  if (span.from !== undefined && span.to !== undefined && span.from >= span.to)
    throw invalidField(
      '/to',
      'empty_span',
      'The span of time has to end after it begins: to must be later than from.',
    )
  return span as Pick<Given, 'from' | 'to'>
}
