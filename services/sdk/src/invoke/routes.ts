import { Execution, InvokeArtifact } from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import type { Invoker } from './invoker.js'

export function invokeRoutes({ invoke }: Invoker): Route[] {
  return [
    defineRoute({
      operationId: 'invokeArtifact',
      method: 'post',
      path: '/sdk/artifacts/:id/invoke',
      summary: 'Invoke an artifact',
      description:
        'Invokes the artifact by its id or slug, with the rights of its installer. The result is an execution, even ' +
        'if it has failed or timed out; `output` and `error` are returned as the code produced them, while the log ' +
        'shows `***` for secrets. With an Idempotency-Key, a repeated request returns the same execution.',
      tag: 'Artifacts',
      scope: 'sdk:invoke',
      body: InvokeArtifact,
      response: Execution,
      accepted: ({ status }) => status === 'running',
      waits: true,
      bodyLimitBytes: 5 * 1024 * 1024,
      errors: ['conflict'],
      handler: ({ params, body, meta }) => invoke(params.id, body, meta),
    }),
  ]
}
