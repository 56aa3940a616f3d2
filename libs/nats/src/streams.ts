import {
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream'
import { nanos } from '@nats-io/transport-node'
import type { NatsNames } from '@opsplane/contracts'
import { delay, type Logger, retryDelayMs } from '@opsplane/runtime'
import { NatsLinkClosedError } from './errors.js'
import type { NatsLink } from './link.js'

/** Limits of the platform's streams. Both hold what can be rebuilt or was published to be transient. */
export interface StreamOptions {
  eventsMaxAgeMs?: number
  topicsMaxAgeMs?: number
  /** -1 means no limit. */
  maxBytes?: number
  storage?: 'file' | 'memory'
  replicas?: number
  /** Ends the retrying. */
  signal?: AbortSignal
  log?: Logger
}

const minuteMs = 60_000
const weekMs = 7 * 24 * 60 * minuteMs

type WantedStream = Pick<StreamConfig, 'name' | 'subjects' | 'max_age' | 'duplicate_window'> & Limits
type Limits = Pick<
  StreamConfig,
  'max_bytes' | 'storage' | 'num_replicas' | 'retention' | 'discard' | 'max_msgs' | 'allow_direct'
>

/** The two streams as they should be. */
export function platformStreams(names: NatsNames, options: StreamOptions = {}): WantedStream[] {
  const limits: Limits = {
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.Old,
    max_msgs: -1,
    max_bytes: options.maxBytes ?? -1,
    storage: options.storage === 'memory' ? StorageType.Memory : StorageType.File,
    num_replicas: options.replicas ?? 1,
    allow_direct: true,
  }
  return [
    {
      ...limits,
      name: names.eventsStream,
      subjects: [names.eventSubjects],
      max_age: nanos(options.eventsMaxAgeMs ?? weekMs),
      duplicate_window: nanos(10 * minuteMs),
    },
    {
      ...limits,
      name: names.topicsStream,
      subjects: [names.topicSubjects],
      max_age: nanos(options.topicsMaxAgeMs ?? weekMs),
      duplicate_window: nanos(5 * minuteMs),
    },
  ]
}

/** Creates the streams or brings their settings up to date. Idempotent; retried until it works or is aborted. */
export async function ensureStreams(
  link: NatsLink,
  names: NatsNames,
  options: StreamOptions = {},
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      // Without its own API check, which would ask for account information the user may not see.
      const manager = await jetstreamManager(await link.ready(options.signal), { checkAPI: false })
      for (const wanted of platformStreams(names, options)) await ensureStream(manager, wanted)
      return
    } catch (error) {
      if (options.signal?.aborted || error instanceof NatsLinkClosedError) throw error
      if (attempt === 1) options.log?.warn({ err: error }, 'the streams cannot be set up, still trying')
      await delay(
        retryDelayMs({ attempt, strategy: 'exponential', baseMs: 100, maxMs: 2_000 }),
        options.signal,
      )
    }
  }
}

async function ensureStream(manager: JetStreamManager, wanted: WantedStream): Promise<void> {
  const existing = await manager.streams.info(wanted.name).catch((error: unknown) => {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound)
      return undefined
    throw error
  })
  if (!existing) {
    await manager.streams.add(wanted)
    return
  }
  // Storage type and retention of a stream cannot be changed once it exists.
  const { name, storage: _, retention: __, ...changeable } = wanted
  const changed = Object.entries(changeable).some(
    ([key, value]) => JSON.stringify(existing.config[key as keyof WantedStream]) !== JSON.stringify(value),
  )
  if (changed) await manager.streams.update(name, changeable)
}
