import {
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
  type StreamInfo,
} from '@nats-io/jetstream'
import { type NatsConnection, nanos, PermissionViolationError } from '@nats-io/transport-node'
import type { NatsNames } from '@opsplane/contracts'
import { type BackendConfig, delay, type Logger, retryDelayMs, type Timers } from '@opsplane/runtime'
import { ForeignStreamError, NatsLinkClosedError } from './errors.js'
import type { NatsLink } from './link.js'

/** Limits of the platform's streams: those set here apply, others stay as the operator of the server has set them. */
export interface StreamOptions {
  eventsMaxAgeMs?: number | undefined
  topicsMaxAgeMs?: number | undefined
  /** -1 means no limit. */
  maxBytes?: number | undefined
  /** Of a stream that is made; it cannot be changed later. */
  storage?: 'file' | 'memory' | undefined
  replicas?: number | undefined
  /** Marks a stream that is made; one that is marked as another installation's is refused. */
  installationId?: string | undefined
  /** Ends the retrying. */
  signal?: AbortSignal
  log?: Logger
  timers?: Timers
}

/** The limits a service's configuration names. */
export const toStreamOptions = (config: BackendConfig): StreamOptions => ({
  eventsMaxAgeMs: config.natsEventsMaxAgeMs,
  topicsMaxAgeMs: config.natsTopicsMaxAgeMs,
  maxBytes: config.natsStreamMaxBytes,
  storage: config.natsStreamStorage,
  replicas: config.natsStreamReplicas,
  installationId: config.installationId,
})

const minuteMs = 60_000
const weekMs = 7 * 24 * 60 * minuteMs

interface WantedStream {
  name: string
  subjects: string[]
  /** Within it a repeated message id is recognized. */
  duplicateWindowMs: number
  maxAgeMs: number | undefined
}

const platformStreams = (names: NatsNames, options: StreamOptions): WantedStream[] => [
  {
    name: names.eventsStream,
    subjects: [names.eventSubjects],
    duplicateWindowMs: 10 * minuteMs,
    maxAgeMs: options.eventsMaxAgeMs,
  },
  {
    name: names.topicsStream,
    subjects: [names.topicSubjects],
    duplicateWindowMs: 5 * minuteMs,
    maxAgeMs: options.topicsMaxAgeMs,
  },
]

/** The server's code for a stream that another replica has created meanwhile, with another time in its description. */
const streamNameInUse = 10_058

/**
 * Creates the streams or, as a user who may, brings them to what is wanted. Idempotent; retried until it works or is aborted.
 * Rejects with ForeignStreamError where one is another installation's.
 */
export async function ensureStreams(
  link: NatsLink,
  names: NatsNames,
  options: StreamOptions = {},
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      const manager = await openStreamManager(await link.ready(options.signal))
      for (const wanted of platformStreams(names, options)) await ensureStream(manager, wanted, options)
      return
    } catch (error) {
      const isFinal = error instanceof NatsLinkClosedError || error instanceof ForeignStreamError
      if (options.signal?.aborted || isFinal) throw error
      if (attempt === 1) options.log?.warn({ err: error }, 'the streams cannot be set up, still trying')
      await delay(
        retryDelayMs({ attempt, strategy: 'exponential', baseMs: 100, maxMs: 2_000 }),
        options.signal,
        options.timers,
      )
    }
  }
}

async function ensureStream(manager: JetStreamManager, wanted: WantedStream, options: StreamOptions) {
  const existing = (await streamInfo(manager, wanted.name)) ?? (await addStream(manager, wanted, options))
  if (!existing) return
  refuseForeignStream(existing, options.installationId)
  const { config } = existing
  const changes = Object.entries(settled(wanted, options, config.max_age)).filter(
    ([key, value]) => JSON.stringify(config[key as keyof StreamConfig]) !== JSON.stringify(value),
  )
  if (changes.length === 0) return
  try {
    await manager.streams.update(wanted.name, Object.fromEntries(changes))
  } catch (error) {
    if (!isDenied(error)) throw error
    const settings = changes.map(([key]) => key)
    options.log?.warn(
      { stream: wanted.name, settings },
      'a stream is not as configured, and only the operator may change it',
    )
  }
}

/** Resolves with the stream where another service was first: all relays begin at once. */
async function addStream(manager: JetStreamManager, wanted: WantedStream, options: StreamOptions) {
  try {
    await manager.streams.add(newStream(wanted, options))
    return undefined
  } catch (error) {
    if (!(error instanceof JetStreamApiError && error.code === streamNameInUse)) throw error
    return streamInfo(manager, wanted.name)
  }
}

/** The server lets this user do no such thing. */
export const isDenied = (error: unknown): boolean =>
  error instanceof PermissionViolationError || (error instanceof Error && isDenied(error.cause))

/** The server knows no stream of the name. */
export const isMissingStream = (error: unknown): boolean =>
  error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound

/** Before the first event the stream is still to be made by the relay, which is nothing to worry about. */
export function logInterruption(
  log: Logger,
  error: unknown,
  of: { stream: string; durable?: string },
  warning: string,
): void {
  if (isMissingStream(error))
    log.info(of, 'the stream does not exist yet; waiting for the relay to create it')
  else log.warn({ err: error, ...of }, warning)
}

/** What JetStream is asked through, without the client's own check, which asks for account information that a user may not see. */
export const openStreamManager = (connection: NatsConnection, timeoutMs = 5_000): Promise<JetStreamManager> =>
  jetstreamManager(connection, { checkAPI: false, timeout: timeoutMs })

/** The stream as it stands; undefined when there is none. */
export async function streamInfo(manager: JetStreamManager, name: string): Promise<StreamInfo | undefined> {
  try {
    return await manager.streams.info(name)
  } catch (error) {
    if (isMissingStream(error)) return undefined
    throw error
  }
}

const made = /^made \S+/
const owner = /(?:^| )for (\S+)$/

/**
 * What ids are made of: when the stream was made, by its own description, which backups keep. The instant the server gives changes with
 * a restore; it also applies to a stream that another replica has created.
 */
export function streamIdentity({ config, created }: Pick<StreamInfo, 'config' | 'created'>): string {
  return made.exec(config.description ?? '')?.[0] ?? String(created)
}

/** The installation that a stream is marked with: `made <time> for <id>`. */
export const parseStreamOwner = ({ description }: Pick<StreamConfig, 'description'>): string | undefined =>
  owner.exec(description ?? '')?.[1]

/** The description of a stream, with this installation for its owner. Its identity stays. */
export const formatOwnedDescription = (description: string | undefined, installationId: string): string =>
  [made.exec(description ?? '')?.[0], `for ${installationId}`].filter(Boolean).join(' ')

/** Throws ForeignStreamError where a stream is marked, and not as this installation's. */
export function refuseForeignStream(
  { config }: Pick<StreamInfo, 'config'>,
  installationId: string | undefined,
): void {
  const found = parseStreamOwner(config)
  if (found !== undefined && installationId !== undefined && found !== installationId)
    throw new ForeignStreamError(config.name, found, installationId)
}

const newStream = (wanted: WantedStream, options: StreamOptions) => ({
  name: wanted.name,
  description:
    options.installationId === undefined
      ? `made ${new Date().toISOString()}`
      : formatOwnedDescription(`made ${new Date().toISOString()}`, options.installationId),
  retention: RetentionPolicy.Limits,
  discard: DiscardPolicy.Old,
  max_msgs: -1,
  max_bytes: -1,
  num_replicas: 1,
  max_age: nanos(weekMs),
  allow_direct: true,
  storage: options.storage === 'memory' ? StorageType.Memory : StorageType.File,
  ...settled(wanted, options, nanos(weekMs)),
})

/** Settings that are not left to the operator of the server. `maxAge` applies where none is set, in ns, 0 for none. */
function settled(wanted: WantedStream, { maxBytes, replicas }: StreamOptions, maxAge: number) {
  const age = wanted.maxAgeMs === undefined ? maxAge : nanos(wanted.maxAgeMs)
  const window = nanos(wanted.duplicateWindowMs)
  return {
    subjects: wanted.subjects,
    // The server takes none that is longer than messages are kept.
    duplicate_window: age === 0 ? window : Math.min(window, age),
    ...(wanted.maxAgeMs === undefined ? {} : { max_age: age }),
    ...(maxBytes === undefined ? {} : { max_bytes: maxBytes }),
    ...(replicas === undefined ? {} : { num_replicas: replicas }),
  }
}
