import { z } from 'zod'

/** Headers of the connection, the login or the platform, which are never exposed. */
const unseenHeaders =
  /^(?:authorization|cookie|proxy-.*|x-internal-.*|x-forwarded-.*|x-opsplane-.*|connection|host|forwarded|x-real-ip|traceparent)$/

/** Name of a request header that user-written code and expressions may read. */
export const ShownHeader = z
  .string()
  .max(100)
  .regex(/^[a-z0-9][a-z0-9-]*$/, 'must be the name of a header, in lower case')
  .refine((name) => !unseenHeaders.test(name), 'is a header that is never shown')
