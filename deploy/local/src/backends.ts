import * as dispatcher from '@opsplane/dispatcher'
import type { AnyDecider } from '@opsplane/eventstore'
import * as itsm from '@opsplane/itsm'
import * as settings from '@opsplane/settings'
import type { BackendName } from './service-plan.js'

/** What every service with a database says about what it keeps there. */
export interface Backend {
  migrationsDir: string
  deciders: readonly AnyDecider[]
  projectedTables: readonly string[]
}

export const backends: Record<BackendName, Backend> = { settings, itsm, dispatcher }
