import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRoute,
  createRoute,
  type ErrorComponentProps,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { meQuery, workspacesQuery } from './api/queries.js'
import { loginQuery } from './areas/account/queries.js'
import { peopleRoutes } from './areas/people/routes.js'
import {
  auditSearch,
  catalogueSearch,
  deliverySearch,
  eventSearch,
  topicSearch,
  webhookSearch,
} from './areas/search.js'
import { Problem } from './patterns/problem.js'
import { keepToken } from './place/fragment.js'
import { isEnvironment, rememberedPlace, rememberPlace } from './place/place.js'
import { mayBeSignedIn, remedyAddress, signInAddress } from './place/session.js'
import { NotFound, NoWorkspace } from './shell/not-found.js'

/** All routes of the console. The code of an area is loaded on the first visit. */
export function createRoutes(queries: QueryClient) {
  const root = createRootRoute({
    component: Outlet,
    notFoundComponent: NotFound,
    errorComponent: PageProblem,
  })

  const start = createRoute({
    getParentRoute: () => root,
    path: '/',
    loader: async () => {
      const workspaces = await orSignIn('/', () => queries.fetchQuery(workspacesQuery))
      const remembered = rememberedPlace(localStorage)
      const known = workspaces.find(({ slug }) => slug === remembered?.workspace) ?? workspaces[0]
      if (known === undefined) return
      const environment = known.slug === remembered?.workspace ? remembered.environment : 'production'
      throw redirect({
        to: '/w/$workspace/$environment/failed',
        params: { workspace: known.slug, environment },
      })
    },
    component: NoWorkspace,
  })

  const account = createRoute({
    getParentRoute: () => root,
    path: '/account',
    loader: () => orSignIn('/account', () => queries.ensureQueryData(loginQuery)),
    component: lazyRouteComponent(() => import('./areas/account/account.js'), 'Account'),
    errorComponent: PageProblem,
  })
  const address = createRoute({
    getParentRoute: () => root,
    path: '/account/address',
    beforeLoad: () => keepToken(sessionStorage, location, history),
    loader: () => orSignIn('/account/address', () => queries.ensureQueryData(loginQuery)),
    component: lazyRouteComponent(() => import('./areas/account/address.js'), 'ProveAddress'),
    errorComponent: PageProblem,
  })

  const shell = createRoute({
    getParentRoute: () => root,
    path: '/w/$workspace/$environment',
    parseParams: ({ workspace, environment }) => ({
      workspace,
      environment: isEnvironment(environment) ? environment : ('production' as const),
    }),
    loader: async ({ params, location }) => {
      const me = await orSignIn(location.href, () => queries.ensureQueryData(meQuery(params)))
      rememberPlace(localStorage, params)
      return me
    },
    component: lazyRouteComponent(() => import('./shell/shell.js'), 'Shell'),
    errorComponent: PageProblem,
  })

  const home = createRoute({
    getParentRoute: () => shell,
    path: '/',
    beforeLoad: ({ params }) => {
      throw redirect({ to: '/w/$workspace/$environment/failed', params })
    },
  })
  const failed = createRoute({
    getParentRoute: () => shell,
    path: '/failed',
    component: lazyRouteComponent(() => import('./areas/failed-now/failed-now.js'), 'FailedNow'),
  })
  const deliveries = createRoute({
    getParentRoute: () => shell,
    path: '/deliveries',
    validateSearch: deliverySearch,
    component: lazyRouteComponent(() => import('./areas/deliveries/deliveries.js'), 'Deliveries'),
  })
  const delivery = createRoute({
    getParentRoute: () => deliveries,
    path: '/$webhookId/$deliveryId',
    component: lazyRouteComponent(() => import('./areas/deliveries/delivery.js'), 'DeliveryPage'),
  })
  const webhooks = createRoute({
    getParentRoute: () => shell,
    path: '/webhooks',
    validateSearch: webhookSearch,
    component: lazyRouteComponent(() => import('./areas/webhooks/webhooks.js'), 'Webhooks'),
  })
  const webhook = createRoute({
    getParentRoute: () => webhooks,
    path: '/$webhookId',
    component: lazyRouteComponent(() => import('./areas/webhooks/webhook.js'), 'WebhookPage'),
  })
  const events = createRoute({
    getParentRoute: () => shell,
    path: '/events',
    validateSearch: eventSearch,
    component: lazyRouteComponent(() => import('./areas/events/events.js'), 'Events'),
  })
  const event = createRoute({
    getParentRoute: () => events,
    path: '/$eventId',
    component: lazyRouteComponent(() => import('./areas/events/event.js'), 'EventPage'),
  })

  const topics = createRoute({
    getParentRoute: () => shell,
    path: '/topics',
    validateSearch: topicSearch,
    component: lazyRouteComponent(() => import('./areas/topics/topics.js'), 'Topics'),
  })
  const catalogue = createRoute({
    getParentRoute: () => shell,
    path: '/catalogue',
    validateSearch: catalogueSearch,
    component: lazyRouteComponent(() => import('./areas/catalogue/catalogue.js'), 'Catalogue'),
  })
  const eventType = createRoute({
    getParentRoute: () => catalogue,
    path: '/$eventType',
    component: lazyRouteComponent(() => import('./areas/catalogue/event-type.js'), 'EventTypePage'),
  })
  const record = createRoute({
    getParentRoute: () => shell,
    path: '/record/$reference',
    component: lazyRouteComponent(() => import('./areas/record/record.js'), 'RecordPage'),
  })
  const audit = createRoute({
    getParentRoute: () => shell,
    path: '/audit',
    validateSearch: auditSearch,
    component: lazyRouteComponent(() => import('./areas/audit/audit.js'), 'Audit'),
  })

  return root.addChildren([
    start,
    account,
    address,
    shell.addChildren([
      home,
      failed,
      deliveries.addChildren([delivery]),
      webhooks.addChildren([webhook]),
      events.addChildren([event]),
      topics,
      catalogue.addChildren([eventType]),
      audit,
      record,
      ...peopleRoutes(shell),
    ]),
  ])
}

async function orSignIn<Value>(to: string, load: () => Promise<Value>): Promise<Value> {
  if (!mayBeSignedIn(document.cookie)) throw toSignIn(to)
  try {
    return await load()
  } catch (error) {
    const remedy = remedyAddress(error, to, false)
    if (remedy !== undefined) throw redirect({ href: remedy, reloadDocument: true })
    throw error
  }
}

const toSignIn = (to: string) => redirect({ href: signInAddress(to, false), reloadDocument: true })

function PageProblem({ error, reset }: ErrorComponentProps) {
  return (
    <main className="alone">
      <Problem error={error} onRetry={reset} />
    </main>
  )
}
