import type { EventDefinition } from './catalog.js'
import { artifactEvents } from './sdk-artifacts.js'
import { executionEvents } from './sdk-executions.js'
import { packEvents } from './sdk-packs.js'

/** Every event of the service. */
export const sdkEvents = { ...artifactEvents, ...executionEvents, ...packEvents } satisfies Record<
  string,
  EventDefinition
>
