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
import { keySearch, notificationSearch, userSearch } from './areas/people/search.js'
import { letterSearch } from './areas/platform/queries.js'
import { deliverySearch, eventSearch, webhookSearch } from './areas/search.js'
import { Problem } from './patterns/problem.js'
import { keepToken } from './place/fragment.js'
import { isEnvironment, rememberedPlace, rememberPlace } from './place/place.js'
import { remedyAddress } from './place/session.js'
import { NotFound, NoWorkspace } from './shell/nowhere.js'

/** All addresses of the console. An area is loaded with the first visit to it. */
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
      const workspaces = await orSignIn('/', queries.fetchQuery(workspacesQuery))
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
    loader: () => orSignIn('/account', queries.ensureQueryData(loginQuery)),
    component: lazyRouteComponent(() => import('./areas/account/account.js'), 'Account'),
    errorComponent: PageProblem,
  })
  const address = createRoute({
    getParentRoute: () => root,
    path: '/account/address',
    beforeLoad: () => keepToken(sessionStorage, location, history),
    loader: () => orSignIn('/account/address', queries.ensureQueryData(loginQuery)),
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
      const me = await orSignIn(location.href, queries.ensureQueryData(meQuery(params)))
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

  const people = createRoute({
    getParentRoute: () => shell,
    path: '/people',
    beforeLoad: ({ params, location: { pathname } }) => {
      if (/\/people\/?$/.test(pathname))
        throw redirect({ to: '/w/$workspace/$environment/people/users', params })
    },
  })
  const users = createRoute({
    getParentRoute: () => people,
    path: '/users',
    validateSearch: userSearch,
    component: lazyRouteComponent(() => import('./areas/people/users.js'), 'Users'),
  })
  const invite = createRoute({
    getParentRoute: () => users,
    path: '/new',
    component: lazyRouteComponent(() => import('./areas/people/invite.js'), 'Invite'),
  })
  const user = createRoute({
    getParentRoute: () => users,
    path: '/$userId',
    component: lazyRouteComponent(() => import('./areas/people/user.js'), 'UserPage'),
  })
  const roles = createRoute({
    getParentRoute: () => people,
    path: '/roles',
    component: lazyRouteComponent(() => import('./areas/people/roles.js'), 'Roles'),
  })
  const newRole = createRoute({
    getParentRoute: () => roles,
    path: '/new',
    component: lazyRouteComponent(() => import('./areas/people/new-role.js'), 'NewRole'),
  })
  const role = createRoute({
    getParentRoute: () => roles,
    path: '/$roleName',
    component: lazyRouteComponent(() => import('./areas/people/role.js'), 'RolePage'),
  })
  const keys = createRoute({
    getParentRoute: () => people,
    path: '/keys',
    validateSearch: keySearch,
    component: lazyRouteComponent(() => import('./areas/people/keys.js'), 'Keys'),
  })
  const newKey = createRoute({
    getParentRoute: () => keys,
    path: '/new',
    component: lazyRouteComponent(() => import('./areas/people/new-key.js'), 'NewKey'),
  })
  const key = createRoute({
    getParentRoute: () => keys,
    path: '/$keyId',
    component: lazyRouteComponent(() => import('./areas/people/key.js'), 'KeyPage'),
  })
  const secrets = createRoute({
    getParentRoute: () => people,
    path: '/secrets',
    component: lazyRouteComponent(() => import('./areas/people/secrets.js'), 'Secrets'),
  })
  const newSecret = createRoute({
    getParentRoute: () => secrets,
    path: '/new',
    component: lazyRouteComponent(() => import('./areas/people/new-secret.js'), 'NewSecret'),
  })
  const secret = createRoute({
    getParentRoute: () => secrets,
    path: '/$secretName',
    component: lazyRouteComponent(() => import('./areas/people/secret.js'), 'SecretPage'),
  })
  const signOn = createRoute({
    getParentRoute: () => people,
    path: '/sign-on',
    component: lazyRouteComponent(() => import('./areas/people/sign-on.js'), 'SignOn'),
  })
  const newProvider = createRoute({
    getParentRoute: () => signOn,
    path: '/new',
    component: lazyRouteComponent(() => import('./areas/people/new-provider.js'), 'NewProvider'),
  })
  const provider = createRoute({
    getParentRoute: () => signOn,
    path: '/$providerId',
    component: lazyRouteComponent(() => import('./areas/people/provider.js'), 'ProviderPage'),
  })
  const notifications = createRoute({
    getParentRoute: () => shell,
    path: '/notifications',
    validateSearch: notificationSearch,
    component: lazyRouteComponent(() => import('./areas/people/notifications.js'), 'Notifications'),
  })
  const notification = createRoute({
    getParentRoute: () => notifications,
    path: '/$notificationId',
    component: lazyRouteComponent(() => import('./areas/people/notifications.js'), 'NotificationPage'),
  })
  const platform = createRoute({
    getParentRoute: () => shell,
    path: '/platform',
    beforeLoad: ({ params, location: { pathname } }) => {
      if (/\/platform\/?$/.test(pathname))
        throw redirect({ to: '/w/$workspace/$environment/platform/status', params })
    },
  })
  const status = createRoute({
    getParentRoute: () => platform,
    path: '/status',
    component: lazyRouteComponent(() => import('./areas/platform/status.js'), 'StatusPage'),
  })
  const deadLetters = createRoute({
    getParentRoute: () => platform,
    path: '/dead-letters',
    validateSearch: letterSearch,
    component: lazyRouteComponent(() => import('./areas/platform/dead-letters.js'), 'DeadLetters'),
  })
  const deadLetter = createRoute({
    getParentRoute: () => deadLetters,
    path: '/$letterId',
    component: lazyRouteComponent(() => import('./areas/platform/dead-letters.js'), 'DeadLetterPage'),
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
      people.addChildren([
        users.addChildren([invite, user]),
        roles.addChildren([newRole, role]),
        keys.addChildren([newKey, key]),
        secrets.addChildren([newSecret, secret]),
        signOn.addChildren([newProvider, provider]),
      ]),
      notifications.addChildren([notification]),
      platform.addChildren([status, deadLetters.addChildren([deadLetter])]),
    ]),
  ])
}

async function orSignIn<Value>(to: string, asked: Promise<Value>): Promise<Value> {
  try {
    return await asked
  } catch (error) {
    const remedy = remedyAddress(error, to, false)
    if (remedy !== undefined) throw redirect({ href: remedy, reloadDocument: true })
    throw error
  }
}

function PageProblem({ error, reset }: ErrorComponentProps) {
  return (
    <main className="alone">
      <Problem error={error} onRetry={reset} />
    </main>
  )
}
