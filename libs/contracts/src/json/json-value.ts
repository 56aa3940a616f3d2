import { z } from 'zod'

/**
 * Any JSON value. Does not validate, because a parsed body contains nothing else. `z.json()` would traverse the value
 * again, and its schema is infinitely nested in documents.
 */
export const JsonValue = z.unknown().refine((value) => value !== undefined, 'is required') as z.ZodType<
  z.core.util.JSONType,
  z.core.util.JSONType
>
export type JsonValue = z.infer<typeof JsonValue>
