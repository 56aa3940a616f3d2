import { z } from 'zod'

/** Ensures that only an origin can be inserted into the header. */
const Origin = z
  .string()
  .max(300)
  .regex(/^https?:\/\/[a-z0-9.[\]:*-]+$/i)

/** Keeps only the origins that are valid in a Content-Security-Policy. */
export const frameOrigins = (origins: readonly string[]): string[] =>
  origins.filter((origin) => Origin.safeParse(origin).success)
