import {
  permissions as allPermissions,
  assertNever,
  type DataSourceState,
  type DeploymentProblem,
  type Permission,
  type PinnedResource,
} from '@opsplane/contracts'
import { inspectConnector, inspectQuery, inspectReport, inspectWorkflow } from './others.js'
import type { Inspected, PlatformReader } from './platform-reader.js'
import { inspectTable } from './table.js'

/** The resources and permissions that the data sources of an app need, as found in one environment. */
export interface Inspection {
  pinned: PinnedResource[]
  permissions: Permission[]
  problems: DeploymentProblem[]
}

/** Inspects every resource the sources name. Throws `service_unavailable` if a service cannot answer. */
export async function inspectSources(
  reader: PlatformReader,
  sources: readonly Pick<DataSourceState, 'name' | 'binding'>[],
  heldPermissions: readonly string[],
): Promise<Inspection> {
  const world: Inspection = { pinned: [], permissions: [], problems: [] }
  const needed = new Set<Permission>()
  // Sequential: deployments are rare and should not be fast at the expense of other requests.
  for (const { name: source, binding } of sources) {
    const { pinned, permissions, findings } = await inspect(reader, binding)
    if (pinned) world.pinned.push({ source, ...pinned })
    for (const permission of permissions) {
      needed.add(permission)
      if (heldPermissions.includes(permission)) continue
      const message = `requires the permission ${permission}`
      world.problems.push({ page: null, source, path: '/binding', code: 'permission_not_held', message })
    }
    world.problems.push(...findings.map((finding) => ({ page: null, source, ...finding })))
  }
  world.permissions = allPermissions.filter((permission) => needed.has(permission))
  return world
}

function inspect(reader: PlatformReader, binding: DataSourceState['binding']): Promise<Inspected> {
  switch (binding.kind) {
    case 'table':
      return inspectTable(reader, binding)
    case 'query':
      return inspectQuery(reader, binding)
    case 'connector':
      return inspectConnector(reader, binding)
    case 'workflow':
      return inspectWorkflow(reader, binding)
    case 'report':
      return inspectReport(reader, binding)
    default:
      return assertNever(binding)
  }
}
