import { ArtifactUses, ArtifactUsesQuestion, CauseDepths, CauseDepthsQuestion } from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import { findCauseDepths } from './trigger/active-workflows.js'
import { artifactUses } from './workflow/artifact-uses.js'

const internal = {
  method: 'post',
  tag: 'Internal',
  scope: 'service',
  idempotency: 'none',
  callers: ['sdk'],
} as const

/** Operations for other services. Not exposed by the gateway. */
export function internalRoutes(database: Database): Route[] {
  return [
    defineRoute({
      ...internal,
      operationId: 'findArtifactUses',
      path: '/internal/artifacts/uses',
      summary: 'Find published workflows whose steps run given artifacts',
      body: ArtifactUsesQuestion,
      response: ArtifactUses,
      handler: async ({ body: { slugs, ...tenant } }) => ({
        uses: await artifactUses(database, tenant, slugs),
      }),
    }),

    defineRoute({
      ...internal,
      operationId: 'getRunDepths',
      path: '/internal/runs/depths',
      summary: 'Count the runs and executions that caused given runs',
      body: CauseDepthsQuestion,
      response: CauseDepths,
      handler: async ({ body: { ids } }) => ({
        depths: [...(await findCauseDepths(database, ids))].map(([id, depth]) => ({ id, depth })),
      }),
    }),
  ]
}
