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
      },
    },
  })
  const router = createRouter({
    routeTree: createRoutes(queries),
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    defaultPendingMs: 200,
    scrollRestoration: false,
  })
  return { router, queries }
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
