import { OpsplaneError } from '@opsplane/client'
import { QueryCache, QueryClient } from '@tanstack/react-query'
import { createRouter } from '@tanstack/react-router'
import { needsSignIn } from './api/failure.js'
import { createRoutes } from './routes.js'

/** How often a request is sent again that may succeed then. */
const mostRetries = 2

/** The pages, and what they have read. */
export function createConsole() {
  const queries = new QueryClient({
    queryCache: new QueryCache({ onError: (error) => void signInAgain(error) }),
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
  /** Where a session has ended, its page is come back to: what it shows is in its address. */
  const signInAgain = async (error: unknown) => {
    const { href, pathname } = router.state.location
    if (!needsSignIn(error) || pathname === '/sign-in') return
    await router.navigate({ to: '/sign-in', search: { to: href, ended: true } })
  }
  return { router, queries }
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsole>['router']
  }
}
