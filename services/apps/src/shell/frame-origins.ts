import { z } from 'zod'

/** Nothing but an origin can get into the header that holds it. */
const Origin = z
  .string()
  .max(300)
  .regex(/^https?:\/\/[a-z0-9.[\]:*-]+$/i)

/** Those of the origins that a Content-Security-Policy may hold. */
export const frameOrigins = (origins: readonly string[]): string[] =>
  origins.filter((origin) => Origin.safeParse(origin).success)
