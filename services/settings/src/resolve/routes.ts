import { ResolvedReference } from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import type { Resolve } from './resolve.js'

/** Route to find a resource of which only the id is known. */
export const resolveRoutes = (resolve: Resolve): Route[] => [
  defineRoute({
    operationId: 'resolveReference',
    method: 'get',
    path: '/resolve/:id',
    summary: 'Find a resource by its id or number',
    description:
      'Any id such as `evt_…`, `del_…`, `run_…` or `inc_…`, and numbers of the service desk such as `INC-12`: returns what it is and where to ' +
      'read it. 404 alike for what the caller may not read, what is in another workspace or environment, and what does not exist. A change ' +
      'within the last second may be missing from the title.',
    tag: 'Events',
    scope: 'authenticated',
    workspace: 'required',
    response: ResolvedReference,
    handler: ({ params, meta }) => resolve(params.id, meta),
  }),
]
