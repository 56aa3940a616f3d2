import { ApiError, ArtifactUses } from '@opsplane/contracts'
import type { ServiceClient } from '@opsplane/http'
import type { FindUses } from './uses.js'

const timeoutMs = 5_000

/**
 * Finds published workflows with steps that run some of the artifacts. Throws `service_unavailable` if workflows is
 * unavailable.
 */
export const workflowUses =
  (workflows: Pick<ServiceClient, 'post'> | undefined): FindUses =>
  async ({ workspaceId, environment }, artifacts) => {
    if (!workflows) throw new ApiError('service_unavailable', 'workflows is not available.')
    const question = { workspaceId, environment, slugs: artifacts.map(({ slug }) => slug) }
    const signal = AbortSignal.timeout(timeoutMs)
    return (await workflows.post('/internal/artifacts/uses', question, ArtifactUses, { signal })).uses
  }
