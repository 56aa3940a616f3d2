import type { EventDefinition } from '../events/catalog.js'
import { artifactEvents } from './sdk-artifacts.js'
import { executionEvents } from './sdk-executions.js'
import { jobEvents } from './sdk-jobs.js'
import { packEvents } from './sdk-packs.js'

/** All events of the service. */
export const sdkEvents = {
  ...artifactEvents,
  ...executionEvents,
  ...jobEvents,
  ...packEvents,
} satisfies Record<string, EventDefinition>
