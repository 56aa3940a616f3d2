import { OpsplaneError } from '@opsplane/client'
import { QueryCache, QueryClient } from '@tanstack/react-query'
import { createRouter } from '@tanstack/react-router'
import { remedyAddress } from './place/session.js'
import { createRoutes } from './routes.js'

/** How often a request is sent again that may succeed then. */
const mostRetries = 2

/** The pages, and what they have read. */
export function createConsole() {
  const queries = new QueryClient({
    queryCache: new QueryCache({ onError: goToRemedy }),
    defaultOptions: {
      queries: {
        retry: (count, error) =>
          count < mostRetries && (!(error instanceof OpsplaneError) || error.retryable),
        retryDelay: (count) => 400 * 2 ** count,
        // A page waits for what its parts read. A part that asked again when it is shown would have the page wait again, without end.
        retryOnMount: false,
      },
    },
  })
  forgetFailures(queries)
  const router = createRouter({
    routeTree: createRoutes(queries),
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    defaultPendingMs: 200,
    scrollRestoration: false,
  })
  return { router, queries }
}

/** What has failed and is on no page any more is asked for again where it is next. */
function forgetFailures(queries: QueryClient): void {
  const cache = queries.getQueryCache()
  cache.subscribe(({ type, query }) => {
    if (type !== 'observerRemoved' || query.getObserversCount() > 0) return
    if (query.state.status === 'error' && query.state.data === undefined) cache.remove(query)
  })
}

/** Leads to the sign-in where one is needed, and back: what a page shows is in its address. */
function goToRemedy(error: unknown): void {
  const { pathname, search } = location
  const remedy = remedyAddress(error, `${pathname}${search}`, true)
  if (remedy !== undefined) location.assign(remedy)
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsole>['router']
  }
}
