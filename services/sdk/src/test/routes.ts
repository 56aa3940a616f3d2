import { ArtifactTestRun, RunArtifactTests } from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import type { Tests } from './tests.js'

export const testRoutes = (tests: Tests): Route[] => [
  defineRoute({
    operationId: 'runArtifactTests',
    method: 'post',
    path: '/sdk/artifacts/:id/tests/run',
    summary: 'Run the tests of an artifact',
    description:
      'Those its pack declares, in the same sandbox as everything else, with recorded calls in place of everything outside. ' +
      'Each is an execution of its own; one that fails says what differs from what it expects.',
    tag: 'Artifacts',
    scope: 'sdk:invoke',
    body: RunArtifactTests,
    response: ArtifactTestRun,
    idempotency: 'none',
    waits: true,
    handler: ({ params, body, meta }) => tests.run(params.id, body, meta),
  }),
]
