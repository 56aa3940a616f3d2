import { readFileSync } from 'node:fs'
import { type ErrorCode, errorTable } from '@opsplane/contracts'
import type { OpenApiDocument } from '@opsplane/http'
import { deliveryWebhook } from './delivery-webhook.js'

/** Errors that any of its operations may return. */
const platformErrors: ErrorCode[] = [
  'precondition_failed',
  'rate_limited',
  'headers_too_large',
  'internal_error',
]

/** The operations of the gateway itself, for the merged document. Health checks are outside /api/v1. */
export const ownDocument: OpenApiDocument = {
  openapi: '3.1.0',
  info: {
    title: 'Opsplane',
    version: '1.0.0',
    /** Markdown guide: sign-in, pagination, errors, receiving and verifying events. */
    description: readFileSync(new URL('../docs-page/guides.md', import.meta.url), 'utf8'),
  },
  tags: [{ name: 'Specification', description: 'This API description, as a document and as a page.' }],
  webhooks: deliveryWebhook,
  paths: {
    '/openapi.json': {
      get: documentOperation('getOpenApiJson', 'This API as OpenAPI 3.1, in JSON', 'application/json', {
        schema: { type: 'object' },
        example: { openapi: '3.1.0' },
      }),
    },
    '/openapi.yaml': {
      get: documentOperation('getOpenApiYaml', 'This API as OpenAPI 3.1, in YAML', 'application/yaml', {
        schema: { type: 'string', format: 'binary' },
        example: 'openapi: 3.1.0\n',
      }),
    },
    '/docs': {
      get: documentOperation('getDocs', 'The API reference page', 'text/html', {
        schema: { type: 'string' },
        example: '<!doctype html>',
      }),
    },
  },
}

function documentOperation(operationId: string, summary: string, mediaType: string, content: object) {
  return {
    operationId,
    summary,
    description:
      'Requires no authentication. Send the ETag as If-None-Match to receive 304 while the document is unchanged.',
    tags: ['Specification'],
    security: [],
    parameters: [
      {
        name: 'If-None-Match',
        in: 'header' as const,
        description:
          'The last known ETag; the response is 304 without content while the document is unchanged.',
        schema: { type: 'string' as const },
      },
    ],
    responses: {
      200: {
        description: summary,
        headers: {
          ETag: {
            description: 'Identifies the exact bytes of the document.',
            schema: { type: 'string' as const },
          },
        },
        content: { [mediaType]: content },
      },
      304: { description: 'Unchanged since the ETag in If-None-Match; no content.' },
      ...Object.fromEntries(platformErrors.map(errorResponse)),
    },
  }
}

/** Does not refer to components of the services: this part must be valid when none of them responds. */
function errorResponse(code: ErrorCode) {
  const schema = {
    type: 'object' as const,
    required: ['error', 'meta'],
    properties: { error: { type: 'object' as const }, meta: { type: 'object' as const } },
  }
  return [
    errorTable[code].status,
    { description: `\`${code}\``, content: { 'application/json': { schema } } },
  ]
}
