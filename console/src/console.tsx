import { OpsplaneError } from '@opsplane/client'
import { QueryCache, QueryClient } from '@tanstack/react-query'
import { createRouter } from '@tanstack/react-router'
import { remedyAddress } from './place/session.js'
import { createRoutes } from './routes.js'

/** Maximum number of automatic retries of a request whose error is retryable. */
const maxRetries = 2

/** Creates the router and the query cache. */
export function createConsole() {
  const queries = new QueryClient({
    queryCache: new QueryCache({ onError: goToRemedy }),
    defaultOptions: {
      queries: {
        retry: (count, error) => count < maxRetries && (!(error instanceof OpsplaneError) || error.retryable),
        retryDelay: (count) => 400 * 2 ** count,
        // A page waits for the queries of its parts. If a part refetched on mount after an error, the page would wait again,
        // without end.
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

/** Removes a failed query from the cache once no page uses it, so that it is fetched again on the next page that needs it. */
function forgetFailures(queries: QueryClient): void {
  const cache = queries.getQueryCache()
  cache.subscribe(({ type, query }) => {
    if (type !== 'observerRemoved' || query.getObserversCount() > 0) return
    if (query.state.status === 'error' && query.state.data === undefined) cache.remove(query)
  })
}

/**
 * Redirects to the sign-in if the error requires it; the person returns to the same page, because its URL contains its
 * state.
 */
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
