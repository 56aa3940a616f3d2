/**
 * Who may pass: `public` needs no token, `account` a token but no workspace, `workspace` both.
 */
export type Access = 'public' | 'account' | 'workspace'

/** Where a request below /api/v1 goes. */
export interface Target {
  service: string
  /** Path and query as the service sees them: without /api/v1. */
  path: string
  access: Access
  /** Largest request body, in bytes. */
  bodyLimitBytes: number
  /** The answer may take as long as a long-poll or an export: it must not share connections with quick requests. */
  waits: boolean
}

export const apiPrefix = '/api/v1'

const mebibyte = 1024 * 1024

/** First path segment to the service that owns it. Nothing else is ever routed, least of all /internal. */
const services: ReadonlyMap<string, string> = new Map([
  ['auth', 'settings'],
  ['workspaces', 'settings'],
  ['settings', 'settings'],
  ['secrets', 'settings'],
  ['audit', 'settings'],
  ['notifications', 'settings'],
  ['itsm', 'itsm'],
  ['cmdb', 'itsm'],
  ['knowledge', 'itsm'],
  ['catalog', 'itsm'],
  ['workflows', 'workflows'],
  ['runs', 'workflows'],
  ['tables', 'database-studio'],
  ['queries', 'database-studio'],
  ['migrations', 'database-studio'],
  ['apps', 'apps'],
  ['connectors', 'integrations'],
  ['transformer', 'integrations'],
  ['webhooks', 'dispatcher'],
  ['events', 'dispatcher'],
  ['sdk', 'sdk'],
  ['analytics', 'analytics'],
])

/** The routes that need less than a token and a workspace. */
const lesserAccess: ReadonlyMap<string, Access> = new Map([
  ['POST /auth/token', 'public'],
  ['POST /auth/invitations/accept', 'public'],
  ['POST /auth/logout', 'account'],
  ['GET /auth/me', 'account'],
  ['HEAD /auth/me', 'account'],
  ['GET /workspaces', 'account'],
  ['HEAD /workspaces', 'account'],
  ['GET /events/asyncapi.json', 'account'],
  ['HEAD /events/asyncapi.json', 'account'],
])

/** The event catalogue is the same in every workspace. */
const eventCatalog = /^(?:GET|HEAD) \/events\/catalog(?:\/[^/]+)?$/

const dotSegment = /\/(?:\.|%2e){1,2}(?:\/|$)/i
/** Long-polls, and answers that can take as long as one. To services a slash at the end does not count. */
const waiting = /^\/(?:events\/topics\/[^/]+\/events|audit\/(?:export|verify))\/?$/

/** Null when no service owns the path. `url` is the request target from the request line. */
export function resolveTarget(method: string, url: string): Target | null {
  if (!url.startsWith(`${apiPrefix}/`)) return null
  const path = url.slice(apiPrefix.length)
  const queryAt = path.indexOf('?')
  const pathname = queryAt === -1 ? path : path.slice(0, queryAt)
  if (dotSegment.test(pathname)) return null
  const end = pathname.indexOf('/', 1)
  const service = services.get(end === -1 ? pathname.slice(1) : pathname.slice(1, end))
  if (service === undefined) return null
  return {
    service,
    path,
    access: accessOf(`${method} ${pathname}`),
    bodyLimitBytes: pathname.endsWith('/bulk') ? 16 * mebibyte : mebibyte,
    waits: waiting.test(pathname),
  }
}

function accessOf(operation: string): Access {
  return lesserAccess.get(operation) ?? (eventCatalog.test(operation) ? 'account' : 'workspace')
}
