import { MomentOrDay, TimeZoneName } from '@opsplane/contracts'
import { localClock } from '@opsplane/runtime'
import type { z } from 'zod'

/** Where days of a query begin, for one that does not say so itself. */
const TimeZoneOfDays = TimeZoneName.default('UTC').meta({
  description: 'By whose clock a date begins that is given for an instant: an IANA name.',
  example: 'Europe/Berlin',
})

const day = /^\d{4}-\d\d-\d\d$/

function isMomentOrDay(schema: z.core.$ZodType): boolean {
  if (schema === MomentOrDay) return true
  const { def } = schema._zod
  return 'innerType' in def && isMomentOrDay(def.innerType as z.core.$ZodType)
}

const momentsOf = (query: z.ZodObject) =>
  Object.entries(query.shape).flatMap(([name, schema]) => (isMomentOrDay(schema) ? [name] : []))

/** The same query, which says by whose clock its dates begin, where it takes any for instants. */
export const withTimeZone = (query: z.ZodObject): z.ZodObject =>
  momentsOf(query).length === 0 || 'timeZone' in query.shape
    ? query
    : query.safeExtend({ timeZone: TimeZoneOfDays })

/** When a day begins by the clock of a zone, as an ISO instant. */
export const startOfDay = (text: string, timeZone: string): string =>
  new Date(localClock(timeZone).instantOf(Date.parse(text))).toISOString()

/** Makes instants of the dates in a parsed query, so that handlers see instants alone. */
export function zonedDays(query: z.ZodObject): (parsed: unknown) => unknown {
  const names = momentsOf(query)
  if (names.length === 0) return (parsed) => parsed
  const isAdded = query.shape.timeZone === TimeZoneOfDays
  return (parsed) => {
    const { timeZone = 'UTC', ...rest } = parsed as Record<string, unknown>
    const instants = names.flatMap((name) => {
      const value = rest[name]
      return typeof value === 'string' && day.test(value)
        ? [[name, startOfDay(value, String(timeZone))] as const]
        : []
    })
    return { ...(isAdded ? rest : (parsed as object)), ...Object.fromEntries(instants) }
  }
}
