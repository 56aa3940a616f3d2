import { analytics } from '@opsplane/analytics'
import { apps } from '@opsplane/apps'
import type { BackendName, ServiceName } from '@opsplane/contracts'
import { databaseStudio } from '@opsplane/database-studio'
import { dispatcher } from '@opsplane/dispatcher'
import { gateway } from '@opsplane/gateway'
import { integrations } from '@opsplane/integrations'
import { itsm } from '@opsplane/itsm'
import type { RunnableService } from '@opsplane/runtime'
import type { Service } from '@opsplane/service'
import { sdk } from '@opsplane/service-sdk'
import { settings } from '@opsplane/settings'
import { workflows } from '@opsplane/workflows'

/** Every service with a database. */
export const backends: Record<BackendName, Service> = {
  settings,
  itsm,
  dispatcher,
  integrations,
  'database-studio': databaseStudio,
  workflows,
  sdk,
  analytics,
  apps,
}

/** All services. */
export const services: Record<ServiceName, RunnableService> = { ...backends, gateway }
