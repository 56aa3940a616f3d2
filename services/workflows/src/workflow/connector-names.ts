import { ApiError, ConnectorNames, type ConnectorNamesQuestion, type TenantScope } from '@opsplane/contracts'
import type { ServiceClient } from '@opsplane/http'

/** Finds connectors of an environment by id or name. */
export type FindConnectors = (
  tenant: TenantScope,
  query: Pick<ConnectorNamesQuestion, 'ids' | 'names' | 'furtherActions'>,
) => Promise<ConnectorNames['connectors']>

const timeoutMs = 3_000

/** Throws `service_unavailable` or `upstream_timeout` if integrations does not respond. */
export const findConnectors =
  (integrations: Pick<ServiceClient, 'post'> | undefined): FindConnectors =>
  async ({ workspaceId, environment }, wanted) => {
    if (!integrations) throw new ApiError('service_unavailable', 'integrations is not available.')
    const signal = AbortSignal.timeout(timeoutMs)
    const question = { workspaceId, environment, ...wanted }
    return (await integrations.post('/internal/connectors/names', question, ConnectorNames, { signal }))
      .connectors
  }
