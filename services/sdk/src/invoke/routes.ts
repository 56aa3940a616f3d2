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
        'By its id or slug. What came of it is an execution, also where it has failed or timed out; `output` and `error` are ' +
        'as the code gave them, while the log has `***` for secrets. With an Idempotency-Key ' +
        'the same request again gets the same execution. It acts in the name of its installer.',
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
