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
      'Runs the tests that the pack of the artifact declares, in the same sandbox as other executions, with ' +
      'recorded calls in place of all external calls. Each test is a separate execution; a failed test reports the ' +
      'differences from the expected result.',
    tag: 'Artifacts',
    scope: 'sdk:invoke',
    body: RunArtifactTests,
    response: ArtifactTestRun,
    idempotency: 'none',
    waits: true,
    handler: ({ params, body, meta }) => tests.run(params.id, body, meta),
  }),
]
