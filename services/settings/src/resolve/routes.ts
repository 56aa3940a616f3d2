import { ResolvedReference } from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import type { Resolve } from './resolve.js'

/** Where something is read of which only the id is known. */
export const resolveRoutes = (resolve: Resolve): Route[] => [
  defineRoute({
    operationId: 'resolveReference',
    method: 'get',
    path: '/resolve/:id',
    summary: 'Find what an id or a number names',
    description:
      'Any id such as `evt_…`, `del_…`, `run_…` or `inc_…`, and numbers of the service desk such as `INC-12`: what it is, and where it ' +
      'is read. What the caller may not read, is of another workspace or environment, or is not there, is one 404. What has changed ' +
      'within the last second may be known by its earlier title.',
    tag: 'Events',
    scope: 'authenticated',
    workspace: 'required',
    response: ResolvedReference,
    errors: ['not_found', 'service_unavailable'],
    handler: ({ params, meta }) => resolve(params.id, meta),
  }),
]
