import { type AnyRoute, createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { letterSearch } from '../platform/queries.js'
import { keySearch, notificationSearch, userSearch } from './search.js'

/** Routes of the pages about people and about the installation, inside the workspace shell. */
export function peopleRoutes<Shell extends AnyRoute>(shell: Shell) {
  const people = createRoute({
    getParentRoute: () => shell,
    path: '/people',
  })
  const peopleHome = createRoute({
    getParentRoute: () => people,
    path: '/',
    component: lazyRouteComponent(() => import('./home.js'), 'PeopleHome'),
  })
  const users = createRoute({
    getParentRoute: () => people,
    path: '/users',
    validateSearch: userSearch,
    component: lazyRouteComponent(() => import('./users.js'), 'Users'),
  })
  const invite = createRoute({
    getParentRoute: () => users,
    path: '/new',
    component: lazyRouteComponent(() => import('./invite.js'), 'Invite'),
  })
  const user = createRoute({
    getParentRoute: () => users,
    path: '/$userId',
    component: lazyRouteComponent(() => import('./user.js'), 'UserPage'),
  })
  const roles = createRoute({
    getParentRoute: () => people,
    path: '/roles',
    component: lazyRouteComponent(() => import('./roles.js'), 'Roles'),
  })
  const newRole = createRoute({
    getParentRoute: () => roles,
    path: '/new',
    component: lazyRouteComponent(() => import('./new-role.js'), 'NewRole'),
  })
  const role = createRoute({
    getParentRoute: () => roles,
    path: '/$roleName',
    component: lazyRouteComponent(() => import('./role.js'), 'RolePage'),
  })
  const keys = createRoute({
    getParentRoute: () => people,
    path: '/keys',
    validateSearch: keySearch,
    component: lazyRouteComponent(() => import('./keys.js'), 'Keys'),
  })
  const newKey = createRoute({
    getParentRoute: () => keys,
    path: '/new',
    component: lazyRouteComponent(() => import('./new-key.js'), 'NewKey'),
  })
  const key = createRoute({
    getParentRoute: () => keys,
    path: '/$keyId',
    component: lazyRouteComponent(() => import('./key.js'), 'KeyPage'),
  })
  const secrets = createRoute({
    getParentRoute: () => people,
    path: '/secrets',
    component: lazyRouteComponent(() => import('./secrets.js'), 'Secrets'),
  })
  const newSecret = createRoute({
    getParentRoute: () => secrets,
    path: '/new',
    component: lazyRouteComponent(() => import('./new-secret.js'), 'NewSecret'),
  })
  const secret = createRoute({
    getParentRoute: () => secrets,
    path: '/$secretName',
    component: lazyRouteComponent(() => import('./secret.js'), 'SecretPage'),
  })
  const signOn = createRoute({
    getParentRoute: () => people,
    path: '/sign-on',
    component: lazyRouteComponent(() => import('../sign-on/sign-on.js'), 'SignOn'),
  })
  const newProvider = createRoute({
    getParentRoute: () => signOn,
    path: '/new',
    component: lazyRouteComponent(() => import('../sign-on/new-provider.js'), 'NewProvider'),
  })
  const provider = createRoute({
    getParentRoute: () => signOn,
    path: '/$providerId',
    component: lazyRouteComponent(() => import('../sign-on/provider.js'), 'ProviderPage'),
  })
  const notifications = createRoute({
    getParentRoute: () => shell,
    path: '/notifications',
    validateSearch: notificationSearch,
    component: lazyRouteComponent(() => import('../notifications/notifications.js'), 'Notifications'),
  })
  const notification = createRoute({
    getParentRoute: () => notifications,
    path: '/$notificationId',
    component: lazyRouteComponent(() => import('../notifications/notifications.js'), 'NotificationPage'),
  })
  const platform = createRoute({
    getParentRoute: () => shell,
    path: '/platform',
  })
  const platformHome = createRoute({
    getParentRoute: () => platform,
    path: '/',
    component: lazyRouteComponent(() => import('./home.js'), 'PlatformHome'),
  })
  const status = createRoute({
    getParentRoute: () => platform,
    path: '/status',
    component: lazyRouteComponent(() => import('../platform/status.js'), 'StatusPage'),
  })
  const deadLetters = createRoute({
    getParentRoute: () => platform,
    path: '/dead-letters',
    validateSearch: letterSearch,
    component: lazyRouteComponent(() => import('../platform/dead-letters.js'), 'DeadLetters'),
  })
  const deadLetter = createRoute({
    getParentRoute: () => deadLetters,
    path: '/$letterId',
    component: lazyRouteComponent(() => import('../platform/dead-letters.js'), 'DeadLetterPage'),
  })

  return [
    people.addChildren([
      peopleHome,
      users.addChildren([invite, user]),
      roles.addChildren([newRole, role]),
      keys.addChildren([newKey, key]),
      secrets.addChildren([newSecret, secret]),
      signOn.addChildren([newProvider, provider]),
    ]),
    notifications.addChildren([notification]),
    platform.addChildren([platformHome, status, deadLetters.addChildren([deadLetter])]),
  ] as const
}
