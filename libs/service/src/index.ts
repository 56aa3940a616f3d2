export type { BackgroundWork, ServiceContext, ServiceOverrides } from './context.js'
export {
  defineService,
  type Service,
  type ServiceDefinition,
  type ServiceParts,
} from './define-service.js'
