import { ApiError, type BackendName, KnownMembers, KnownNames } from '@opsplane/contracts'
import type { PlatformClients } from '@opsplane/http'
import type { FindKnown, TargetSort } from './check/targets.js'

const timeoutMs = 3_000

/** Who knows them, and where. */
const named: Readonly<Partial<Record<TargetSort, [BackendName, string]>>> = {
  secret: ['settings', '/internal/secrets/names'],
  artifact: ['sdk', '/internal/artifacts/names'],
  table: ['database-studio', '/internal/tables/names'],
  query: ['database-studio', '/internal/queries/names'],
}

/** Throws `service_unavailable` or `upstream_timeout` where the service that knows does not answer. */
export const findKnown =
  (clients: PlatformClients): FindKnown =>
  async (sort, { workspaceId, environment }, names) => {
    const [service, path] = named[sort] ?? ['settings', '/internal/members']
    const client = clients.get(service)
    if (!client) throw new ApiError('service_unavailable', `${service} is not there.`)
    const signal = AbortSignal.timeout(timeoutMs)
    if (named[sort])
      return (await client.post(path, { workspaceId, environment, names }, KnownNames, { signal })).names
    const [userIds, roles] = sort === 'user' ? [names, []] : [[], names]
    const known = await client.post(path, { workspaceId, userIds, roles }, KnownMembers, { signal })
    return sort === 'user' ? known.userIds : known.roles
  }
