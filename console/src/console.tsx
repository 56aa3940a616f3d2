import { OpsplaneError } from '@opsplane/client'
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { createRouter } from '@tanstack/react-router'
import { needsSignIn } from './api/failure.js'
import { signInAddress } from './place/session.js'
import { createRoutes } from './routes.js'

/** How often a request is sent again that may succeed then. */
const mostRetries = 2

/** The pages, and what they have read. */
export function createConsole() {
  const queries = new QueryClient({
    queryCache: new QueryCache({ onError: signInAgain }),
    mutationCache: new MutationCache({ onError: signInAgain }),
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

/** Where a session has ended, its page is come back to: what it shows is in its address. */
function signInAgain(error: unknown): void {
  if (!needsSignIn(error)) return
  const { pathname, search } = location
  location.assign(signInAddress(`${pathname}${search}`, true))
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsole>['router']
  }
}
