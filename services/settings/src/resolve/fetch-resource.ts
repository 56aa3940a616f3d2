import {
  ApiError,
  type BackendName,
  backendNames,
  originPrefix,
  type ServiceEntry,
  serviceRegistry,
} from '@opsplane/contracts'
import type { PlatformClients, RequestMeta } from '@opsplane/http'
import { z } from 'zod'
import type { Delegations } from '../delegation/delegations.js'

/** A resource as its service shows it to the caller. */
export interface FetchedResource {
  id: string
  href: string
  title: string | null
}

export interface FetchResourceOptions {
  neighbours: PlatformClients
  delegations: Pick<Delegations, 'actingAs'>
}

const Answer = z.object({ data: z.looseObject({ id: z.string() }) })

/** Fields that contain the display name of a resource, by precedence. */
const Title = z.string().max(1_000)
const titleFields = ['title', 'name', 'label', 'workflowName', 'artifactName'] as const

/**
 * Fetches a resource from the service that owns the path, with the caller's rights; `null` if the service rejects the
 * request. Throws `service_unavailable` if it does not respond.
 */
export const createFetchResource =
  ({ neighbours, delegations }: FetchResourceOptions) =>
  async (href: string, { principal, requestId }: RequestMeta): Promise<FetchedResource | null> => {
    const owner = backendNames.find((name) => has(serviceRegistry[name], href))
    const client = owner && neighbours.get(owner)
    if (!client) return null
    const path = isBelowOrigin(href) ? `${originPrefix}${href}` : href
    const issuer = delegations.actingAs(principal, requestId)
    const { status, body } = await client.request({ method: 'GET', path, issuer, requestId })
    if (status >= 500) throw unanswered(owner)
    const answer = Answer.safeParse(body)
    if (status !== 200 || !answer.success) return null
    const { data } = answer.data
    const title = titleFields.map((field) => Title.safeParse(data[field]).data).find(Boolean) ?? null
    return { id: data.id, href: href.replace(/[^/]+$/, encodeURIComponent(data.id)), title }
  }

const isBelowOrigin = (href: string) => href.startsWith('/api/')

function has({ paths, originPaths = [] }: ServiceEntry, href: string): boolean {
  const own = isBelowOrigin(href) ? originPaths : paths
  return own.some((path) => href.startsWith(`/${path}/`))
}

const unanswered = (owner: BackendName) =>
  new ApiError('service_unavailable', `The service ${owner} does not answer. Try again shortly.`)
