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

/**
 * Limits of the platform's streams. Limits that are set here apply; all others remain as the server's operator has
 * set them.
 */
export interface StreamOptions {
  eventsMaxAgeMs?: number | undefined
  topicsMaxAgeMs?: number | undefined
  /** -1 means no limit. */
  maxBytes?: number | undefined
  /** For new streams; it cannot be changed later. */
  storage?: 'file' | 'memory' | undefined
  replicas?: number | undefined
  /** Marks new streams; a stream that is marked as another installation's is rejected. */
  installationId?: string | undefined
  /** Stops the retries. */
  signal?: AbortSignal
  log?: Logger
  timers?: Timers
}

/** The stream limits in a service's configuration. */
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

interface StreamSpec {
  name: string
  subjects: string[]
  /** Within this time the stream recognizes repeated message ids. */
  duplicateWindowMs: number
  maxAgeMs: number | undefined
}

const platformStreams = (names: NatsNames, options: StreamOptions): StreamSpec[] => [
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

/**
 * The server's error code if another replica has created the stream meanwhile, with a different time in its
 * description.
 */
const streamNameInUse = 10_058

/**
 * Creates the streams or, if the user is allowed to, updates their configuration. Idempotent; retried until it
 * succeeds or is aborted. Rejects with ForeignStreamError if a stream belongs to another installation.
 */
export async function ensureStreams(
  link: NatsLink,
  names: NatsNames,
  options: StreamOptions = {},
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      const manager = await openStreamManager(await link.ready(options.signal))
      for (const target of platformStreams(names, options)) await ensureStream(manager, target, options)
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

async function ensureStream(manager: JetStreamManager, target: StreamSpec, options: StreamOptions) {
  const existing = (await streamInfo(manager, target.name)) ?? (await addStream(manager, target, options))
  if (!existing) return
  refuseForeignStream(existing, options.installationId)
  const { config } = existing
  const changes = Object.entries(settled(target, options, config.max_age)).filter(
    ([key, value]) => JSON.stringify(config[key as keyof StreamConfig]) !== JSON.stringify(value),
  )
  if (changes.length === 0) return
  try {
    await manager.streams.update(target.name, Object.fromEntries(changes))
  } catch (error) {
    if (!isDenied(error)) throw error
    const settings = changes.map(([key]) => key)
    options.log?.warn(
      { stream: target.name, settings },
      'a stream is not as configured, and only the operator may change it',
    )
  }
}

/** Resolves to the existing stream if another service was first, because all relays start at the same time. */
async function addStream(manager: JetStreamManager, target: StreamSpec, options: StreamOptions) {
  try {
    await manager.streams.add(newStream(target, options))
    return undefined
  } catch (error) {
    if (!(error instanceof JetStreamApiError && error.code === streamNameInUse)) throw error
    return streamInfo(manager, target.name)
  }
}

/** Whether the server denied this user the operation. */
export const isDenied = (error: unknown): boolean =>
  error instanceof PermissionViolationError || (error instanceof Error && isDenied(error.cause))

/** Whether the server has no stream of this name. */
export const isMissingStream = (error: unknown): boolean =>
  error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound

/** Logs an interruption. A missing stream is not a warning: the relay creates it before the first event. */
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

/** The JetStream API without the client's own check, which requests account information that a user may not read. */
export const openStreamManager = (connection: NatsConnection, timeoutMs = 5_000): Promise<JetStreamManager> =>
  jetstreamManager(connection, { checkAPI: false, timeout: timeoutMs })

/** The current state of the stream; `undefined` if there is none. */
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
 * The identity that ids are made of: when the stream was made according to its description, which backups
 * preserve. The creation time the server reports changes with a restore; it is used for a stream without such a
 * description.
 */
export function streamIdentity({ config, created }: Pick<StreamInfo, 'config' | 'created'>): string {
  return made.exec(config.description ?? '')?.[0] ?? String(created)
}

/** The installation a stream is marked with: `made <time> for <id>`. */
export const parseStreamOwner = ({ description }: Pick<StreamConfig, 'description'>): string | undefined =>
  owner.exec(description ?? '')?.[1]

/** The description of a stream with this installation as owner. Its identity does not change. */
export const formatOwnedDescription = (description: string | undefined, installationId: string): string =>
  [made.exec(description ?? '')?.[0], `for ${installationId}`].filter(Boolean).join(' ')

/** Throws ForeignStreamError if a stream is marked as another installation's. */
export function refuseForeignStream(
  { config }: Pick<StreamInfo, 'config'>,
  installationId: string | undefined,
): void {
  const found = parseStreamOwner(config)
  if (found !== undefined && installationId !== undefined && found !== installationId)
    throw new ForeignStreamError(config.name, found, installationId)
}

const newStream = (target: StreamSpec, options: StreamOptions) => ({
  name: target.name,
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
  ...settled(target, options, nanos(weekMs)),
})

/**
 * Settings that are not left to the server's operator. `maxAge` (in ns, 0 for none) applies if no maximum age is
 * configured.
 */
function settled(target: StreamSpec, { maxBytes, replicas }: StreamOptions, maxAge: number) {
  const age = target.maxAgeMs === undefined ? maxAge : nanos(target.maxAgeMs)
  const window = nanos(target.duplicateWindowMs)
  return {
    subjects: target.subjects,
    // The server accepts no window longer than the maximum age of messages.
    duplicate_window: age === 0 ? window : Math.min(window, age),
    ...(target.maxAgeMs === undefined ? {} : { max_age: age }),
    ...(maxBytes === undefined ? {} : { max_bytes: maxBytes }),
    ...(replicas === undefined ? {} : { num_replicas: replicas }),
  }
}
