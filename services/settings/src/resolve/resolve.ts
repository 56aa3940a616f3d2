import {
  deliveryData,
  eventPermission,
  everyEventPermission,
  kindOfReference,
  notFound,
  type PlatformEvent,
  type ReadableKind,
  type ResolvedReference,
  readableKinds,
} from '@opsplane/contracts'
import type { PlatformClients, RequestMeta } from '@opsplane/http'
import type { Drizzle } from '@opsplane/postgres'
import { findAuditEvent } from '../audit/queries.js'
import type { Delegations } from '../delegation/delegations.js'
import { workspaceScope } from '../tenant/workspace-scope.js'
import { createFetchResource, type FetchedResource } from './fetch-resource.js'
import { lastEvent } from './queries.js'

export interface ResolveOptions {
  db: Drizzle
  neighbours: PlatformClients
  delegations: Pick<Delegations, 'actingAs'>
}

export type Resolve = (reference: string, meta: RequestMeta) => Promise<ResolvedReference>

/**
 * Resolves an id or a number, as far as the caller may read the resource. Throws the same `not_found` for a resource
 * that does not exist, belongs to another workspace or environment, or may not be read by the caller.
 */
export function createResolve({ db, ...options }: ResolveOptions): Resolve {
  const fetchResource = createFetchResource(options)

  const resolveEvent = async (id: string, { tenant }: RequestMeta): Promise<ResolvedReference> => {
    const event = await findAuditEvent(db, tenant, id)
    if (event === null) throw notFound()
    const { type, resource } = event
    const title = `${type}: ${resource.displayName}`
    return { type: 'event', id, title, href: `/audit/${id}`, eventsHref: buildEventsPath(resource.id) }
  }

  const resolveRequest = async (id: string, { tenant }: RequestMeta): Promise<ResolvedReference> => {
    const event = await lastEvent(db, tenant, { requestId: id })
    if (event === null) throw notFound()
    const href = `/audit?requestId=${id}`
    return { type: 'request', id, title: null, href, eventsHref: href }
  }

  const resolveResource = async (kind: ReadableKind, reference: string, meta: RequestMeta) => {
    const tenant = kind.ofWorkspace ? workspaceScope(meta.tenant.workspaceId) : meta.tenant
    const event = await lastEvent(db, tenant, { resourceId: reference })
    const shown = await shownTo(kind, reference, event, meta)
    const readsLog = meta.principal.permissions.includes(everyEventPermission)
    const id = shown?.id ?? reference
    // A resource with a number always has events, which contain its id.
    const hasEvents = readsLog && (event !== null || id !== reference)
    const eventsHref =
      hasEvents && tenant.environment === meta.tenant.environment ? buildEventsPath(id) : null
    const href = shown?.href ?? null
    if (href === null && eventsHref === null) throw notFound()
    const title = shown?.title ?? (readsLog ? event?.resource.displayName : undefined) ?? null
    return { type: kind.type, id, title, href, eventsHref }
  }

  /** The resource with its path, if the caller may read it; `null` if not, or if it is deleted. */
  const shownTo = async (
    kind: ReadableKind,
    id: string,
    event: PlatformEvent | null,
    meta: RequestMeta,
  ): Promise<FetchedResource | null> => {
    const href = kind.path && !(event && isDeleted(event)) ? fillPath(kind.path, id, event) : null
    if (href === null) return null
    const mayRead = event !== null && meta.principal.permissions.includes(eventPermission(event.type))
    // Row rules also determine which records the caller may read; only the studio applies them.
    if (mayRead && kind.type !== 'record') return { id, href, title: event.resource.displayName }
    return fetchResource(href, meta)
  }

  return async (reference, meta) => {
    const kindName = kindOfReference(reference)
    const kind = kindName && readableKinds[kindName]
    if (!kind) throw notFound()
    if (kindName !== 'event' && kindName !== 'request') return resolveResource(kind, reference, meta)
    if (!meta.principal.permissions.includes(everyEventPermission)) throw notFound()
    return kindName === 'event' ? resolveEvent(reference, meta) : resolveRequest(reference, meta)
  }
}

/** A resource in the trash counts as deleted. */
const isDeleted = ({ type, data }: PlatformEvent) => data.after === null || type.endsWith('.deleted')

const buildEventsPath = (id: string) => `/audit?resourceId=${encodeURIComponent(id)}`

/** `null` if no event contains the value of a path parameter. */
function fillPath(path: string, id: string, event: PlatformEvent | null): string | null {
  const fields: Record<string, unknown> = { ...(event && deliveryData(event)), id }
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  if (!names.every((name) => typeof fields[name] === 'string')) return null
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(fields[name])))
}
