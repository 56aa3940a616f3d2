import type { Route } from '@opsplane/http'
import { bulkRoutes } from './bulk-routes.js'
import type { RecordServices } from './record-services.js'
import { singleRoutes } from './single-routes.js'
import { transferRoutes } from './transfer-routes.js'

export const recordRoutes = (services: RecordServices): Route[] => [
  ...singleRoutes(services),
  ...bulkRoutes(services),
  ...transferRoutes(services),
]
