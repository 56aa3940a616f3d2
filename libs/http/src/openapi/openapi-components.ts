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
    description: 'Slug of the workspace the request applies to.',
    schema: { type: 'string', pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$' },
  },
  Environment: {
    name: 'X-Environment',
    in: 'header',
    description: 'Environment of the workspace; each environment has its own data.',
    schema: { type: 'string', enum: [...environments], default: 'production' },
  },
  RequestId: {
    name: 'X-Request-ID',
    in: 'header',
    description:
      'Id of the request: echoed in the response, logged and added to events. Generated if absent or malformed.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{8,128}$' },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'A repeated request with the same key takes effect once and returns the same response for 24 hours. ' +
      'Printable ASCII.',
    // Whitespace around a header's value is removed in transit.
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]([ -~]*[!-~])?$' },
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description:
      'The last known ETag; the request fails with 412 if the resource has changed since. `*` matches any version.',
    schema: { type: 'string', pattern: '^(\\*|(W/)?"[!#-~]*")$' },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'The last known ETag; the response is 304 without content if the resource has not changed.',
    schema: { type: 'string' },
  },
}
