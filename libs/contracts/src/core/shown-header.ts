import { z } from 'zod'

/** They belong to the connection, the login, or the platform. */
const unseenHeaders =
  /^(?:authorization|cookie|proxy-.*|x-internal-.*|x-forwarded-.*|x-opsplane-.*|connection|host|forwarded|x-real-ip|traceparent)$/

/** The name of a header of requests that what people write may see. */
export const ShownHeader = z
  .string()
  .max(100)
  .regex(/^[a-z0-9][a-z0-9-]*$/, 'must be the name of a header, in lower case')
  .refine((name) => !unseenHeaders.test(name), 'is a header that is never shown')
