import { originPrefix, RouteTable, type ServiceName } from '@opsplane/contracts'
import { createInternalIssuer, serviceClient } from '@opsplane/http'
import type { TestCluster } from '../platform.js'
import type { Operation, Parameter } from './document.js'

/** An operation below the origin, and the callers for whom the gateway passes requests to it: see `RouteAccess`. */
export type OriginOperation = Operation & { access: RouteTable['routes'][number]['access'] }

const headerOf = (name: string): Parameter => ({ name, in: 'header', schema: { type: 'string' } })

/** The operations below the origin that a service lists, including those of pages. Their paths begin with /origin. */
export function listOriginOperations({ routes }: RouteTable): OriginOperation[] {
  return routes
    .filter(({ path }) => path.startsWith(`${originPrefix}/`))
    .map(({ operationId, method, path, permission, access }) => ({
      ...{ id: operationId, method: method.toUpperCase(), access },
      path: path.replaceAll(/[:*](\w+)/g, '{$1}'),
      scope: permission ?? access,
      secured: access === 'workspace' || access === 'account',
      parameters: access === 'workspace' ? [headerOf('X-Workspace'), headerOf('X-Environment')] : [],
      ...{ body: undefined, upload: undefined, server: undefined, raw: { operationId, responses: {} } },
    }))
}

/** Fetches the route table of a service, including its operations below the origin. */
export async function fetchRouteTable(
  service: ServiceName,
  baseUrl: string,
  { serviceKeys }: Pick<TestCluster['secrets'], 'serviceKeys'>,
) {
  const issuer = createInternalIssuer({ service: 'gateway', privateKey: serviceKeys.gateway.privateKey })
  const client = serviceClient({ baseUrl, audience: service, issuer, timeoutMs: 10_000 })
  return client.get('/internal/routes', RouteTable).finally(() => client.close())
}
