export type { BackgroundWork, ServiceConsumer, ServiceContext, ServiceOverrides } from './context.js'
export { defineService, type Service } from './define-service.js'
export { type DependentsOfKind, dependentsRoute } from './dependents.js'
export { groupRetryRoutes } from './group-retry-routes.js'
export { namesRoute } from './names-route.js'
export { openServiceClient } from './open-service-client.js'
export type { Operations } from './operations/operations.js'
export {
  allOwned,
  type Carrier,
  type MemberPermissions,
  type Owned,
  watchOwnerRights,
} from './owner-rights.js'
export { createSubscriptionRules, type SubscriptionRules } from './read-rules.js'
export type { ExtraSchemas, ServiceParts } from './service-definition.js'
export { wakeHints } from './wake-hints.js'
