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
      'Accepts any id such as `evt_…`, `del_…`, `run_…` or `inc_…`, and numbers of the service desk such as ' +
      '`INC-12`. Returns the kind of the resource and the address to read it from. Returns the same 404 for a ' +
      'resource that the caller may not read, one in another workspace or environment, and one that does not ' +
      'exist. A change within the last second may be missing from the title.',
    tag: 'Events',
    scope: 'authenticated',
    workspace: 'required',
    response: ResolvedReference,
    handler: ({ params, meta }) => resolve(params.id, meta),
  }),
]
