import type { OpenApiDocument } from '@opsplane/http'

/** What the gateway answers itself, for the merged document. Health lies outside /api/v1. */
export const ownDocument: OpenApiDocument = {
  openapi: '3.1.0',
  info: {
    title: 'Opsplane',
    version: '1.0.0',
    description:
      'Workflows, data and IT service management behind one API. Sign in with `POST /auth/token` or use an API ' +
      'key, name the workspace in `X-Workspace`, and everything you do becomes an event.',
  },
  tags: [{ name: 'Specification', description: 'This description, as a document and as a page.' }],
  paths: {
    '/openapi.json': {
      get: documentOperation('getOpenApiJson', 'This API as OpenAPI 3.1, in JSON', 'application/json', {
        type: 'object',
      }),
    },
    '/openapi.yaml': {
      get: documentOperation('getOpenApiYaml', 'This API as OpenAPI 3.1, in YAML', 'application/yaml', {
        type: 'string',
      }),
    },
    '/docs': {
      get: documentOperation('getDocs', 'The API reference page', 'text/html', { type: 'string' }),
    },
  },
}

function documentOperation(operationId: string, summary: string, mediaType: string, schema: object) {
  return {
    operationId,
    summary,
    tags: ['Specification'],
    security: [],
    responses: { 200: { description: summary, content: { [mediaType]: { schema } } } },
  }
}
