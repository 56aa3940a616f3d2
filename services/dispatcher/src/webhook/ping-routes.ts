import { WebhookTestResult } from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import type { Ping } from './ping.js'

export function pingRoutes(ping: Ping): Route[] {
  return [
    defineRoute({
      operationId: 'testWebhook',
      method: 'post',
      path: '/webhooks/:id/test',
      summary: 'Send a test ping',
      description:
        'Sends one `webhook.test` event, signed and with the headers of a delivery, also while the webhook is ' +
        'paused, and returns the response of the endpoint, whatever its status. The ping is neither retried nor ' +
        'logged, and does not count towards the automatic pause. If the endpoint does not respond, returns ' +
        '`upstream_timeout` when `timeout_ms` has passed, and `upstream_error` when DNS, connection, TLS or HTTP ' +
        'failed or the address must not be called; the code of the detail is the kind of failure as in the ' +
        '`lastError` of a delivery. Returns `conflict` if a header refers to a secret that does not exist.',
      tag: 'Webhooks',
      scope: 'webhooks:write',
      response: WebhookTestResult,
      idempotency: 'claim',
      errors: ['not_found', 'conflict', 'upstream_error', 'upstream_timeout', 'service_unavailable'],
      handler: ({ params, meta }) => ping(params.id, meta),
    }),
  ]
}
