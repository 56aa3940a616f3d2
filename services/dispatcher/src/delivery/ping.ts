import {
  ApiError,
  type AttemptError,
  type DeliveryBody,
  newId,
  notFound,
  stringifyExact,
  testEventType,
  type WebhookTestResult,
} from '@opsplane/contracts'
import { webhook } from '../webhook/domain.js'
import type { Ping } from '../webhook/ping.js'
import { toTarget } from '../webhook/target.js'
import type { WebhookAggregate } from '../webhook/webhook-store.js'
import type { AttemptResult, MakeAttempt } from './send/attempt.js'

export interface PingDependencies {
  aggregate: WebhookAggregate
  attempt: MakeAttempt
}

/**
 * Sends a request like that of a delivery, but it is not stored, retried or counted, and is also sent while the webhook
 * is paused. Its `data` is the webhook in its API representation.
 */
export function createPing({ aggregate, attempt }: PingDependencies): Ping {
  return async (webhookId, { tenant, now, signal }) => {
    const found = await aggregate.find(webhookId, tenant)
    if (!found) throw notFound()
    const { state, version } = found
    const { workspaceId: workspace_id, environment } = tenant
    const target = toTarget({ id: webhookId, workspace_id, environment, version, state })
    const body: DeliveryBody = {
      id: newId('event'),
      webhook_id: webhookId,
      event: testEventType,
      timestamp: now,
      workspace_id,
      data: { ...webhook.expose(state) },
    }
    const content = { id: body.id, type: body.event, text: stringifyExact(body) }
    return resultOf(await attempt(target, content, signal()), state.url)
  }
}

/** Any response of the endpoint is a result, whatever its status. If there was none, an error names the cause. */
function resultOf(result: AttemptResult, url: string): WebhookTestResult {
  if (result.kind === 'postponed') {
    const { reason } = result
    if (!(reason instanceof ApiError) || reason.code === 'rate_limited') throw reason
    throw new ApiError(
      'service_unavailable',
      "Nothing was sent: the secrets of the webhook's headers could not be read. Try again.",
      { cause: reason },
    )
  }
  const { response, durationMs, error } = result.record
  if (response) return { status: response.status, latency_ms: durationMs, body: response.body }
  throw unanswered(error ?? { kind: 'protocol', message: 'There was no answer.' }, url)
}

function unanswered({ kind, message }: AttemptError, url: string): ApiError {
  const ofHeaders = kind === 'secret_missing' || kind === 'secret_refused' || kind === 'headers_too_large'
  // The field of the webhook to correct.
  const path = ofHeaders ? '/headers' : '/url'
  const details = [{ in: 'body' as const, path, code: kind, message }]
  if (ofHeaders) return new ApiError('conflict', `Nothing was sent: ${message}`, { details })
  const code = kind === 'timeout' ? 'upstream_timeout' : 'upstream_error'
  return new ApiError(code, `The endpoint ${addressOf(url)} did not answer (${kind}): ${message}`, {
    details,
  })
}

/** The URL without its possibly secret parts: credentials and query. */
function addressOf(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}
