import { z } from 'zod'

/**
 * Any JSON value, which whatever comes in a body is by the time it is parsed. `z.json()` would look at it all once more, and
 * is a schema without end in documents.
 */
export const JsonValue = z.unknown().refine((value) => value !== undefined, 'is required') as z.ZodType<
  z.core.util.JSONType,
  z.core.util.JSONType
>
export type JsonValue = z.infer<typeof JsonValue>
