import {
  assertNever,
  type CreateWebhook,
  changedFields,
  type Decider,
  type Decision,
  type Environment,
  type Filter,
  type Instant,
  invalidField,
  notFound,
  type PauseReason,
  type Permission,
  permissions,
  type RetryStrategy,
  redactedValue,
  type UpdateWebhook,
  type WebhookSnapshot,
  type WebhookStatus,
} from '@opsplane/contracts'
import { type Caller, findReadPermissions, findUsePermissions, requireRights } from './rights.js'
import { type Rotation, rotateSecrets, type SealedSecret } from './secret-rotation.js'

/** Headers ready for storage: `shown` is visible to everyone, with `***` instead of the literal secrets in `sealed`. */
export interface PreparedHeaders {
  shown: Record<string, string>
  /** Sealed values by header name. */
  sealed: Record<string, string>
}

export interface WebhookState {
  id: string
  name: string
  url: string
  events: string[]
  headers: Record<string, string>
  filter: Filter | null
  retries: number
  retryStrategy: RetryStrategy
  timeoutMs: number
  retryMaxDelayMs: number
  retrySchedule: number[] | null
  rateLimitPerSecond: number | null
  orderingKey: string | null
  status: WebhookStatus
  pausedReason: PauseReason | null
  /** The user whose rights it uses. */
  ownerId: string
  /** Permissions to read all events it was ever subscribed to, because any of them can be resent to it. */
  reads: Permission[]
  environment: Environment
  createdAt: Instant
  updatedAt: Instant
  /** Newest first. */
  secrets: SealedSecret[]
  sealedHeaders: Record<string, string>
  /** Number of resumes; failures of an earlier epoch do not count. */
  epoch: number
}

export type CreateWebhookCommand = {
  kind: 'create'
  id: string
  now: Instant
  environment: Environment
  caller: Caller
  settings: Omit<CreateWebhook, 'secret' | 'headers'>
  headers: PreparedHeaders
  sealedSecret: string | null
}
export type UpdateWebhookCommand = {
  kind: 'update'
  now: Instant
  caller: Caller
  settings: Omit<UpdateWebhook, 'secret' | 'headers'>
  headers?: PreparedHeaders
  /** Absent: unchanged. Null: removed. */
  sealedSecret?: string | null
}
export type RotateSecretCommand = Rotation & { kind: 'rotate_secret' }
export type DeleteWebhookCommand = { kind: 'delete' }
/** A decision of the platform, made when the result of a delivery is recorded. */
export type AutoPauseCommand = {
  kind: 'auto_pause'
  now: Instant
  reason: Exclude<PauseReason, 'user'>
  consecutiveFailures: number
  /** The epoch of the failures; a webhook that was resumed since is not paused for them. */
  epoch: number
}
/** A decision of the platform, when the owner lacks a right that the webhook needs. */
export type SuspendCommand = { kind: 'suspend'; now: Instant; ownerId: string; missing: Permission[] }
export type WebhookCommand =
  | CreateWebhookCommand
  | UpdateWebhookCommand
  | RotateSecretCommand
  | DeleteWebhookCommand
  | AutoPauseCommand
  | SuspendCommand

export const webhook: Decider<WebhookState, WebhookCommand, WebhookSnapshot> = {
  resourceType: 'webhook',
  table: 'webhooks',
  decide(command, state) {
    switch (command.kind) {
      case 'create':
        return [{ type: 'webhook.created', after: created(command) }]
      case 'update':
        return updated(command, existing(state))
      case 'rotate_secret':
        return [secretRotated(command, existing(state))]
      case 'delete':
        existing(state)
        return [{ type: 'webhook.deleted', after: null }]
      case 'auto_pause':
        return autoPaused(command, state)
      case 'suspend':
        return suspended(command, state)
      default:
        return assertNever(command)
    }
  },
  expose,
  describe: (state) => ({ displayName: state.name }),
}

function existing(state: WebhookState | null): WebhookState {
  if (state === null) throw notFound()
  return state
}

function created({
  id,
  now,
  environment,
  caller,
  settings,
  headers,
  sealedSecret,
}: CreateWebhookCommand): WebhookState {
  const status = settings.status ?? 'active'
  const { shown, sealed } = keepRedacted(headers, {})
  const reads = findReadPermissions(settings.events)
  requireRights(caller, { headers: shown, reads })
  return {
    id,
    name: settings.name,
    url: settings.url,
    events: [...new Set(settings.events)],
    headers: shown,
    filter: settings.filter ?? null,
    retries: settings.retries ?? 3,
    retryStrategy: settings.retry_strategy ?? 'exponential',
    timeoutMs: settings.timeout_ms ?? 10_000,
    retryMaxDelayMs: settings.retry_max_delay_ms ?? 3_600_000,
    retrySchedule: settings.retry_schedule ?? null,
    rateLimitPerSecond: settings.rate_limit_per_second ?? null,
    orderingKey: settings.ordering_key ?? null,
    status,
    pausedReason: status === 'paused' ? 'user' : null,
    ownerId: caller.userId,
    reads,
    environment,
    createdAt: now,
    updatedAt: now,
    secrets: sealedSecret === null ? [] : [{ sealed: sealedSecret, createdAt: now, expiresAt: null }],
    sealedHeaders: sealed,
    epoch: 0,
  }
}

function updated(command: UpdateWebhookCommand, state: WebhookState): Decision<WebhookState>[] {
  const { now, caller, settings, headers, sealedSecret } = command
  const merged: WebhookState = {
    ...state,
    name: settings.name ?? state.name,
    url: settings.url ?? state.url,
    events: settings.events ? [...new Set(settings.events)] : state.events,
    filter: resolveSetting(settings.filter, state.filter),
    retries: settings.retries ?? state.retries,
    retryStrategy: settings.retry_strategy ?? state.retryStrategy,
    timeoutMs: settings.timeout_ms ?? state.timeoutMs,
    retryMaxDelayMs: settings.retry_max_delay_ms ?? state.retryMaxDelayMs,
    retrySchedule: resolveSetting(settings.retry_schedule, state.retrySchedule),
    rateLimitPerSecond: resolveSetting(settings.rate_limit_per_second, state.rateLimitPerSecond),
    orderingKey: resolveSetting(settings.ordering_key, state.orderingKey),
  }
  if (headers) {
    const kept = keepRedacted(headers, state.sealedHeaders)
    merged.headers = kept.shown
    merged.sealedHeaders = kept.sealed
  }
  checkOrigin(merged, state)
  const resumes = settings.status === 'active' && state.status === 'paused'
  if (resumes || affectsRequests({ ...settings, headers })) {
    merged.reads = findReadPermissions(merged.events, state.reads)
    requireRights(caller, merged)
    merged.ownerId = caller.userId
  }
  if (sealedSecret !== undefined)
    merged.secrets = sealedSecret === null ? [] : [{ sealed: sealedSecret, createdAt: now, expiresAt: null }]

  const decisions: Decision<WebhookState>[] = []
  let last = state
  if (changedFields(state, merged).length > 0) {
    last = { ...merged, updatedAt: now }
    decisions.push({ type: 'webhook.updated', after: last })
  }
  if (settings.status === 'paused' && state.status === 'active')
    decisions.push({ type: 'webhook.paused', after: paused(last, 'user', now), extras: { reason: 'user' } })
  if (resumes) decisions.push({ type: 'webhook.resumed', after: resumed(last, now) })
  return decisions
}

/** A user who changes one of these fields becomes the owner, because requests are sent on their behalf. */
export const affectsRequests = (given: {
  url?: unknown
  events?: unknown
  filter?: unknown
  headers?: unknown
}): boolean => [given.url, given.events, given.filter, given.headers].some((value) => value !== undefined)

/** The requested value, including null, or the present one if it is absent. */
function resolveSetting<Value>(requested: Value | null | undefined, present: Value | null): Value | null {
  return requested === undefined ? present : requested
}

function secretRotated(command: RotateSecretCommand, state: WebhookState): Decision<WebhookState> {
  const { now, overlapUntil } = command
  const after = { ...state, secrets: rotateSecrets(state.secrets, command), updatedAt: now }
  return { type: 'webhook.secret_rotated', after, extras: { overlapUntil } }
}

function autoPaused(command: AutoPauseCommand, state: WebhookState | null): Decision<WebhookState>[] {
  if (state === null || state.status === 'paused' || state.epoch !== command.epoch) return []
  const { reason, consecutiveFailures, now } = command
  return [
    { type: 'webhook.paused', after: paused(state, reason, now), extras: { reason, consecutiveFailures } },
  ]
}

function suspended({ ownerId, missing, now }: SuspendCommand, state: WebhookState | null) {
  if (state === null || state.status === 'paused' || state.ownerId !== ownerId) return []
  const reason = 'owner_rights' as const
  return [{ type: 'webhook.paused', after: paused(state, reason, now), extras: { reason, missing } }]
}

function paused(state: WebhookState, reason: PauseReason, now: Instant): WebhookState {
  return { ...state, status: 'paused', pausedReason: reason, updatedAt: now }
}

function resumed(state: WebhookState, now: Instant): WebhookState {
  return { ...state, status: 'active', pausedReason: null, epoch: state.epoch + 1, updatedAt: now }
}

/**
 * A hidden value was intended for the server it was entered for; after a change of the URL it would be sent to the
 * operator of another one. Throws validation_failed with the header.
 */
function checkOrigin(after: WebhookState, before: WebhookState): void {
  if (new URL(after.url).origin === new URL(before.url).origin) return
  const kept = Object.entries(after.sealedHeaders).find(
    ([name, sealed]) => sealed === before.sealedHeaders[name],
  )
  if (!kept) return
  throw invalidField(
    `/headers/${kept[0]}`,
    'not_for_another_host',
    'The value is kept for the present host alone. To change the host, send the header again or leave it out.',
  )
}

/** A header sent back as `***` keeps its value. */
function keepRedacted({ shown, sealed }: PreparedHeaders, present: Record<string, string>): PreparedHeaders {
  const kept = { ...sealed }
  for (const [name, value] of Object.entries(shown)) {
    if (value !== redactedValue || sealed[name] !== undefined) continue
    const known = present[name]
    if (known === undefined)
      throw invalidField(
        `/headers/${name}`,
        'nothing_to_keep',
        `${redactedValue} keeps a value, but there is none.`,
      )
    kept[name] = known
  }
  return { shown, sealed: kept }
}

function expose(state: WebhookState): WebhookSnapshot {
  return {
    id: state.id,
    name: state.name,
    url: state.url,
    events: state.events,
    has_secret: state.secrets.length > 0,
    headers: state.headers,
    filter: state.filter,
    retries: state.retries,
    retry_strategy: state.retryStrategy,
    timeout_ms: state.timeoutMs,
    retry_max_delay_ms: state.retryMaxDelayMs,
    retry_schedule: state.retrySchedule,
    rate_limit_per_second: state.rateLimitPerSecond,
    ordering_key: state.orderingKey,
    status: state.status,
    paused_reason: state.pausedReason,
    owner_id: state.ownerId,
    required_permissions: permissions.filter((each) =>
      [...state.reads, ...findUsePermissions(state)].includes(each),
    ),
    environment: state.environment,
    created_at: state.createdAt,
    updated_at: state.updatedAt,
  }
}
