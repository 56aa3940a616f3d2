import { apiMethods } from '@opsplane/contracts'
import { anyMediaType, defineRaw, type Method, type Route } from '@opsplane/http'
import type { CallArtifact } from './call-artifact.js'

const operationIds: Record<(typeof apiMethods)[number], string> = {
  GET: 'getFromArtifact',
  POST: 'postToArtifact',
  PUT: 'putToArtifact',
  PATCH: 'patchArtifact',
  DELETE: 'deleteFromArtifact',
}

/** Routes for all paths below an artifact that answers requests itself. */
export const apiRoutes = (call: CallArtifact): Route[] =>
  apiMethods.map((name) =>
    defineRaw({
      operationId: operationIds[name],
      // The type is the method name in lower case.
      method: name.toLowerCase() as Method,
      path: '/sdk/artifacts/:id/api/*path',
      summary: `Send a ${name} request to an API artifact`,
      description:
        'Calls an artifact of the kind `api` by its id or slug; `path` is defined by the artifact and may be empty. ' +
        'The artifact receives the method, path, query, body and the headers it declares. Its response is returned ' +
        'unchanged, without the envelope; `X-Execution-ID` identifies the execution that produced it. Returns 502 if ' +
        'the artifact fails, and 504 if it takes too long. With an Idempotency-Key, a repeated request, unless it is ' +
        'a GET, returns the response of the same execution.',
      tag: 'Artifacts',
      scope: 'sdk:invoke',
      bodyLimitBytes: 1024 * 1024,
      // Some client generators parse every response as the first media type.
      mediaTypes: [anyMediaType, 'application/json'],
      errors: [
        ...(['not_found', 'method_not_allowed', 'conflict', 'malformed_json', 'headers_too_large'] as const),
        ...(['idempotency_key_invalid', 'idempotency_key_reused', 'idempotency_in_progress'] as const),
      ],
      handler: ({ params, request, meta }) => call(params.id, request, meta),
    }),
  )
