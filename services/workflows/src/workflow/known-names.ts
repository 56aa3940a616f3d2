import { ApiError, type BackendName, KnownArtifacts, KnownMembers, KnownNames } from '@opsplane/contracts'
import type { PlatformClients } from '@opsplane/http'
import type { FindArtifacts } from './check/needs.js'
import type { FindKnown, TargetSort } from './check/targets.js'

const timeoutMs = 3_000

/** The service that owns each kind of name, with its route. */
const nameRoutes: Readonly<Partial<Record<TargetSort, [BackendName, string]>>> = {
  table: ['database-studio', '/internal/tables/names'],
  query: ['database-studio', '/internal/queries/names'],
}

function findClient(clients: PlatformClients, service: BackendName) {
  const client = clients.get(service)
  if (!client) throw new ApiError('service_unavailable', `${service} is not available.`)
  return client
}

/** Throws `service_unavailable` or `upstream_timeout` if the sdk does not respond. */
export const findArtifacts =
  (clients: PlatformClients): FindArtifacts =>
  async ({ workspaceId, environment }, names) => {
    const question = { workspaceId, environment, names }
    const signal = AbortSignal.timeout(timeoutMs)
    const sdk = findClient(clients, 'sdk')
    return (await sdk.post('/internal/artifacts/needs', question, KnownArtifacts, { signal })).artifacts
  }

/** The same, for the service that owns the names. */
export const findKnown =
  (clients: PlatformClients): FindKnown =>
  async (sort, tenant, names) => {
    const { workspaceId, environment } = tenant
    if (sort === 'artifact') return (await findArtifacts(clients)(tenant, names)).map(({ name }) => name)
    const signal = AbortSignal.timeout(timeoutMs)
    const [service, path] = nameRoutes[sort] ?? ['settings', '/internal/members']
    const client = findClient(clients, service)
    if (nameRoutes[sort])
      return (await client.post(path, { workspaceId, environment, names }, KnownNames, { signal })).names
    const [userIds, roles] = sort === 'user' ? [names, []] : [[], names]
    const known = await client.post(path, { workspaceId, userIds, roles }, KnownMembers, { signal })
    return sort === 'user' ? known.userIds : known.roles
  }
