import {
  CreateWebhook,
  type ErrorDetail,
  newId,
  type TenantScope,
  UpdateWebhook,
  unknownEventPatterns,
  Webhook,
  WebhookStatus,
} from '@opsplane/contracts'
import {
  defineList,
  defineRoute,
  type Outbound,
  type RequestMeta,
  type Route,
  requireFreshSignIn,
  type SecretTargets,
  validationFailed,
} from '@opsplane/http'
import type { Database, Vault } from '@opsplane/postgres'
import { type CursorCodec, type Limits, quotaExceeded } from '@opsplane/runtime'
import type { SubscriptionRules } from '@opsplane/service'
import { z } from 'zod'
import { affectsRequests, type UpdateWebhookCommand } from './domain.js'
import { countWebhooks, listWebhooks, withFailures } from './queries.js'
import { prepareHeaders, sealSecret } from './sealing.js'
import { listChangedSecretTargets, listSecretTargets } from './secret-targets.js'
import type { WebhookAggregate } from './webhook-store.js'

export interface WebhookRoutesContext {
  database: Database
  cursors: CursorCodec
  vault: Vault
  outbound: Outbound
  aggregate: WebhookAggregate
  limits: Limits
  secretTargets: SecretTargets
  rules: SubscriptionRules
  /** Whether a subscription entry matches any existing event type. */
  matchesSomeEvent(pattern: string): boolean
  /** Called after a webhook was changed, paused, resumed or deleted. */
  onChange(webhookId: string, tenant: TenantScope): void
}

const tag = 'Webhooks'

export function webhookRoutes(context: WebhookRoutesContext): Route[] {
  const { database, aggregate, vault, outbound, rules, secretTargets } = context

  const list = defineList({
    operationId: 'listWebhooks',
    path: '/webhooks',
    summary: 'List webhooks',
    description:
      'Returns each webhook with its number of failures since the last success; secrets are never returned.',
    tag,
    scope: 'webhooks:read',
    query: z.object({ status: WebhookStatus.optional() }),
    response: Webhook,
    handler: ({ query, binding, meta }) => {
      const { status, limit, after, sort } = query
      const { tenant } = meta
      const { direction } = sort
      const page = { tenant, status, limit, after, direction, binding, cursors: context.cursors, aggregate }
      return listWebhooks(database, page)
    },
  })

  const create = defineRoute({
    operationId: 'createWebhook',
    method: 'post',
    path: '/webhooks',
    summary: 'Create a webhook',
    description:
      'The secret is write-only; has_secret states whether there is one. A subscription requires the permission to ' +
      'read the events, `audit:read` for `*` and `audit.*`; headers with secrets require `secrets:use` (403, ' +
      '`permission_not_held`). A secret that does not exist, or may not be sent to the host of `url`, returns 422; ' +
      'callers with `secrets:write` add the host to those of the secret. Events contain complete records, so a ' +
      'user from whom row rules hide records of a table cannot subscribe to its events (403, `row_rule`). If the ' +
      'owner loses one of these permissions, the webhook is paused (`owner_rights`).',
    tag,
    scope: 'webhooks:write',
    body: CreateWebhook,
    response: Webhook,
    status: 201,
    errors: ['forbidden', 'step_up_required', 'quota_exceeded'],
    handler: async ({ body, meta }) => {
      const { secret, headers = {}, ...settings } = body
      const { workspaceId, environment } = meta.tenant
      await refuseTooMany(context, meta.tenant)
      refuseUnknownEvents(context, settings.events)
      await rules.require(meta.principal, meta.tenant, settings)
      outbound.checkUrl(settings.url)
      const id = newId('webhook')
      const prepared = await prepareHeaders(vault, workspaceId, id, headers)
      const sealedSecret = secret ? await sealSecret(vault, workspaceId, id, secret) : null
      const command = { id, now: meta.now, environment, settings, headers: prepared, sealedSecret }
      await secretTargets.require(meta, listSecretTargets({ url: settings.url, headers }))
      return aggregate.create(id, { kind: 'create', caller: meta.principal, ...command }, meta)
    },
  })

  const get = defineRoute({
    operationId: 'getWebhook',
    method: 'get',
    path: '/webhooks/:id',
    summary: 'Get a webhook',
    description:
      'Returns the webhook with its number of failures since the last success; the secret is never returned.',
    tag,
    scope: 'webhooks:read',
    response: Webhook,
    // The failure count changes without a new version.
    changesUnversioned: true,
    handler: async ({ params, meta }) =>
      addFailureCounts(database, meta.tenant, await aggregate.get(params.id, meta.tenant)),
  })

  const update = defineRoute({
    operationId: 'updateWebhook',
    method: 'patch',
    path: '/webhooks/:id',
    summary: 'Update, pause or resume a webhook',
    description:
      'Setting the status to active resumes a paused webhook, and the missed events are delivered. A user who ' +
      'resumes the webhook, or changes its url, events, filter or headers, must hold its `required_permissions` ' +
      'and becomes its owner. A new secret requires a step-up, as rotating the secret does. A user from whom row ' +
      'rules hide records of a table cannot subscribe to its events (403, `row_rule`).',
    tag,
    scope: 'webhooks:write',
    body: UpdateWebhook,
    response: Webhook,
    errors: ['forbidden', 'step_up_required'],
    handler: async ({ params, body, meta }) => {
      const { secret, headers, ...settings } = body
      const { workspaceId } = meta.tenant
      if (secret !== undefined) requireFreshSignIn(meta.principal, meta.now)
      if (settings.url !== undefined) outbound.checkUrl(settings.url)
      if (settings.events !== undefined) refuseUnknownEvents(context, settings.events)
      const present = await aggregate.get(params.id, meta.tenant)
      if (settings.status === 'active' || affectsRequests(body))
        await requireUnhidden(rules, present, settings, meta)
      const { now, principal: caller } = meta
      const command: UpdateWebhookCommand = { kind: 'update', now, caller, settings }
      if (headers) command.headers = await prepareHeaders(vault, workspaceId, params.id, headers)
      if (secret !== undefined)
        command.sealedSecret = secret && (await sealSecret(vault, workspaceId, params.id, secret))
      await secretTargets.require(meta, listChangedSecretTargets(body, present))
      const updated = await aggregate.handle(params.id, command, meta)
      context.onChange(params.id, meta.tenant)
      return addFailureCounts(database, meta.tenant, updated)
    },
  })

  const remove = defineRoute({
    operationId: 'deleteWebhook',
    method: 'delete',
    path: '/webhooks/:id',
    summary: 'Delete a webhook',
    description: 'Unfinished deliveries of the webhook fail.',
    tag,
    scope: 'webhooks:write',
    response: z.void(),
    status: 204,
    handler: async ({ params, meta }) => {
      await aggregate.handle(params.id, { kind: 'delete' }, meta)
      context.onChange(params.id, meta.tenant)
    },
  })

  return [list, create, get, update, remove]
}

async function addFailureCounts(database: Database, tenant: TenantScope, webhook: Webhook): Promise<Webhook> {
  const [filled = webhook] = await withFailures(database, tenant, [webhook])
  return filled
}

/** Rejects entries that match no event type. Throws validation_failed with each entry and a suggestion. */
function refuseUnknownEvents(
  { matchesSomeEvent }: Pick<WebhookRoutesContext, 'matchesSomeEvent'>,
  events: readonly string[],
): void {
  const details = unknownEventPatterns(events, matchesSomeEvent).map(
    ({ index, nearest, message }): ErrorDetail => ({
      ...{ in: 'body', path: `/events/${index}`, code: 'unknown_event', message, params: { nearest } },
    }),
  )
  if (details.length > 0) throw validationFailed(details)
}

/** Concurrent creations may exceed the limit slightly. */
async function refuseTooMany({ database, limits }: WebhookRoutesContext, tenant: TenantScope): Promise<void> {
  const max = limits.of('webhooks', tenant.workspaceId)
  if (max > 0 && (await countWebhooks(database, tenant)) >= max) throw quotaExceeded('webhooks', max)
}

/** Throws `forbidden` with the row rules that would hide events of the subscription from the caller. */
async function requireUnhidden(
  rules: SubscriptionRules,
  present: Pick<Webhook, 'events' | 'filter'>,
  { events, filter }: Pick<UpdateWebhookCommand['settings'], 'events' | 'filter'>,
  { principal, tenant }: RequestMeta,
): Promise<void> {
  const subscription = {
    events: events ?? present.events,
    filter: filter === undefined ? present.filter : filter,
  }
  await rules.require(principal, tenant, subscription)
}
