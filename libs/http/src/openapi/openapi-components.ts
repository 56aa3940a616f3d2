import { environments } from '@opsplane/contracts'

export const securitySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'A session token from `POST /auth/token`, or an API key.',
  },
} as const

type HeaderName = 'Workspace' | 'Environment' | 'RequestId' | 'IdempotencyKey' | 'IfMatch' | 'IfNoneMatch'

/** A type rather than an interface: it must match OpenAPI's index signature for extensions. */
type HeaderParameter = {
  name: string
  in: 'header'
  required?: boolean
  description: string
  schema: {
    type: 'string'
    enum?: string[]
    default?: string
    pattern?: string
    minLength?: number
    maxLength?: number
  }
}

/** The platform's request headers, as reusable parameters. */
export const headerParameters: Record<HeaderName, HeaderParameter> = {
  Workspace: {
    name: 'X-Workspace',
    in: 'header',
    required: true,
    description: 'Slug of the workspace the request works in.',
    schema: { type: 'string', pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$' },
  },
  Environment: {
    name: 'X-Environment',
    in: 'header',
    description: 'Environment of the workspace; data of environments is separate.',
    schema: { type: 'string', enum: [...environments], default: 'production' },
  },
  RequestId: {
    name: 'X-Request-ID',
    in: 'header',
    description: 'Echoed, logged and carried on events; made when absent or not of this form.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{8,128}$' },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'The same key with the same request takes effect once and is answered the same for 24 hours. Printable ASCII.',
    // Whitespace around a header's value is removed in transit.
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]([ -~]*[!-~])?$' },
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description:
      'The ETag seen last; the request fails with 412 when the resource has changed since. `*` is any.',
    schema: { type: 'string', pattern: '^(\\*|(W/)?"[!#-~]*")$' },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'The ETag seen last; the answer is 304 without content when the resource is still the same.',
    schema: { type: 'string' },
  },
}
