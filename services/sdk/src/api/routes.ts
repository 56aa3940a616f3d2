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
      summary: `${name} from an artifact that answers requests itself`,
      description:
        'Of the kind `api`, by its id or slug; `path` is its own and may be empty. It gets method, path, query, body and ' +
        'the headers it names, and its answer comes as it is, without the envelope; `X-Execution-ID` says which ' +
        'execution has made it. Where it fails the answer is 502, where it takes too long 504. With an Idempotency-Key ' +
        'the same request again, unless it is a GET, gets the answer of the same execution.',
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
