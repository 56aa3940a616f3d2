import {
  ApiError,
  idSchema,
  ReplayDeliveries,
  ReplayJob,
  ReplayStarted,
  RetryFailures,
} from '@opsplane/contracts'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import { failuresPosition, parseGroupId } from '@opsplane/postgres'
import type { CursorCodec } from '@opsplane/runtime'
import type { WebhookAggregate } from '../webhook/webhook-store.js'
import {
  buildFailureSelection,
  buildSelection,
  cancelReplay,
  getReplay,
  listReplays,
  type ReplayContext,
  startReplay,
} from './jobs.js'

export interface ReplayRoutesContext extends ReplayContext {
  aggregate: WebhookAggregate
  cursors: CursorCodec
  nowMs(): number
  /** Called when a job was created. */
  kick(): void
  /** Called when events were committed. */
  announce(): void
}

const tag = 'Webhooks'
const jobId = idSchema('replay')

export function replayRoutes(context: ReplayRoutesContext): Route[] {
  const { database, aggregate, cursors, nowMs, kick, announce } = context
  const start = defineRoute({
    operationId: 'replayWebhookDeliveries',
    method: 'post',
    path: '/webhooks/:id/deliveries/replay',
    summary: 'Replay deliveries of a webhook',
    description:
      'Creates a job that replays the matching finished deliveries, oldest first and rate-limited; each replay is ' +
      'a delivery with `replayOf`. Replays are not replayed again, nor are failed deliveries that have since been ' +
      'replayed and have not failed again. With `dryRun`, the deliveries are only counted. Returns `conflict` ' +
      'while another job of the webhook runs.',
    tag,
    scope: 'webhooks:write',
    body: ReplayDeliveries,
    response: ReplayStarted,
    status: 202,
    errors: ['not_found', 'conflict'],
    handler: async ({ params, body, meta }) => {
      const webhook = await aggregate.get(params.id, meta.tenant)
      const selection = buildSelection(meta.tenant, webhook.id, body, nowMs())
      const started = await startReplay(context, { webhook, selection, dryRun: body.dryRun }, nowMs(), meta)
      kick()
      announce()
      return started
    },
  })

  const retry = defineRoute({
    operationId: 'retryDeliveryFailures',
    method: 'post',
    path: '/deliveries/failures/:groupId/retry',
    summary: 'Retry a group of failed deliveries',
    description:
      'Creates a job that replays the deliveries of the group that had failed when it was listed with this `to`, ' +
      'and have not been replayed since; oldest first and rate-limited. The job is a replay job of the webhook: ' +
      'its progress and its cancellation are available there. With `dryRun`, the deliveries are only counted. ' +
      'Returns `conflict` while another job of the webhook runs.',
    tag,
    scope: 'webhooks:write',
    body: RetryFailures,
    response: ReplayStarted,
    status: 202,
    errors: ['not_found', 'conflict', 'validation_failed'],
    handler: async ({ params: { groupId }, body: { to, dryRun }, meta }) => {
      const group = parseGroupId(groupId)
      const webhook = await aggregate.get(group.targetId, meta.tenant)
      const position = failuresPosition(cursors, { to, groupId, tenant: meta.tenant })
      const selection = buildFailureSelection(meta.tenant, group, Number(position), nowMs())
      const started = await startReplay(context, { webhook, selection, dryRun }, nowMs(), meta)
      kick()
      announce()
      return started
    },
  })

  const list = defineList({
    operationId: 'listWebhookReplays',
    path: '/webhooks/:id/replays',
    summary: 'List the replay jobs of a webhook, newest first',
    description: '`after` is the id of a job; the page continues with older ones.',
    tag,
    scope: 'webhooks:read',
    response: ReplayJob,
    handler: async ({ params, query: { limit, after }, meta }) => {
      await aggregate.get(params.id, meta.tenant)
      if (after !== undefined && !jobId.safeParse(after).success)
        throw new ApiError('invalid_cursor', 'The cursor is not the id of a replay job.')
      return listReplays(database, { tenant: meta.tenant, webhookId: params.id, limit, after })
    },
  })

  const get = defineRoute({
    operationId: 'getWebhookReplay',
    method: 'get',
    path: '/webhooks/:id/replays/:replayId',
    summary: 'Get a replay job',
    description:
      'Includes the progress: the number of deliveries that matched, and the number replayed so far.',
    tag,
    scope: 'webhooks:read',
    response: ReplayJob,
    errors: ['not_found'],
    handler: ({ params, meta }) =>
      getReplay(database, { tenant: meta.tenant, webhookId: params.id, jobId: params.replayId }),
  })

  const cancel = defineRoute({
    operationId: 'cancelWebhookReplay',
    method: 'post',
    path: '/webhooks/:id/replays/:replayId/cancel',
    summary: 'Cancel a replay job',
    description: 'No further deliveries are replayed; replays created so far are still delivered.',
    tag,
    scope: 'webhooks:write',
    response: ReplayJob,
    errors: ['not_found', 'invalid_state_transition'],
    handler: async ({ params: { id: webhookId, replayId: jobId }, meta }) => {
      const job = await cancelReplay(context, { tenant: meta.tenant, webhookId, jobId }, meta)
      announce()
      return job
    },
  })

  return [start, retry, list, get, cancel]
}
