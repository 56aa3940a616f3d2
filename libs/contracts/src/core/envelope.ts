import { z } from 'zod'
import { type ApiError, errorCodes } from './errors.js'

export const Meta = z.object({ requestId: z.string() }).meta({ id: 'Meta' })

const ErrorDetailSchema = z
  .object({
    in: z.enum(['body', 'query', 'path', 'header']),
    path: z.string().meta({ description: 'JSON pointer to the invalid value.' }),
    code: z.string(),
    message: z.string(),
    params: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'ErrorDetail' })

export const ErrorEnvelope = z
  .object({
    error: z.object({
      code: z.enum(errorCodes),
      status: z.int(),
      message: z.string(),
      retryable: z
        .boolean()
        .meta({ description: 'Whether the same request may succeed if it is sent again.' }),
      details: z.array(ErrorDetailSchema),
    }),
    meta: Meta,
  })
  .meta({ id: 'ErrorEnvelope' })
export type ErrorEnvelope = z.infer<typeof ErrorEnvelope>

export const Pagination = z
  .object({
    nextCursor: z.string().nullable(),
    hasMore: z.boolean(),
    limit: z.int(),
    total: z
      .int()
      .optional()
      .meta({ description: 'Total number of items on all pages. Present only if it was requested.' }),
  })
  .meta({ id: 'Pagination' })
export type Pagination = z.infer<typeof Pagination>

/** Return value of a list route's handler; the http lib wraps it in the envelope. */
export interface Page<T> {
  items: T[]
  nextCursor: string | null
  limit: number
}

export function errorBody(error: ApiError, requestId: string): ErrorEnvelope {
  return {
    error: {
      code: error.code,
      status: error.status,
      message: error.message,
      retryable: error.retryable,
      details: error.details,
    },
    meta: { requestId },
  }
}
