import type { EventDefinition } from './catalog.js'
import { artifactEvents } from './sdk-artifacts.js'
import { packEvents } from './sdk-packs.js'

/** Every event of the service. */
export const sdkEvents = { ...artifactEvents, ...packEvents } satisfies Record<string, EventDefinition>
