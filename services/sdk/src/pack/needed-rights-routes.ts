import { KnownArtifacts, NamesQuestion } from '@opsplane/contracts'
import { defineRoute, type FindPermission, type Route } from '@opsplane/http'
import type { ArtifactLoader } from '../artifact/loader.js'
import { findNeededRights } from './needed-rights.js'

/** Routes called by workflows before it publishes a version whose steps run artifacts. Not exposed by the gateway. */
export const neededRightsRoutes = (
  { loadArtifact }: Pick<ArtifactLoader, 'loadArtifact'>,
  permissionOf: FindPermission,
): Route[] => [
  defineRoute({
    method: 'post',
    tag: 'Internal',
    scope: 'service',
    idempotency: 'none',
    operationId: 'findArtifactNeeds',
    path: '/internal/artifacts/needs',
    callers: ['workflows'],
    summary: 'Find existing artifacts and the permissions they require',
    body: NamesQuestion,
    response: KnownArtifacts,
    handler: async ({ body: { names, ...tenant } }) => {
      const artifacts: KnownArtifacts['artifacts'] = []
      for (const name of names) {
        const artifact = await loadArtifact(tenant, name)
        if (artifact)
          artifacts.push({ name, permissions: [...(await findNeededRights([artifact], permissionOf)).uses] })
      }
      return { artifacts }
    },
  }),
]
