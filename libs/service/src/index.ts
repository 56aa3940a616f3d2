export type { BackgroundWork, ServiceConsumer, ServiceContext, ServiceOverrides } from './context.js'
export {
  type BesideSchema,
  defineService,
  type Service,
  type ServiceDefinition,
  type ServiceParts,
} from './define-service.js'
export { openNeighbour } from './neighbour.js'
export { type HeldRights, type OwnerRightsOptions, watchOwnerRights } from './owner-rights.js'
export { wakeHints } from './wake-hints.js'
