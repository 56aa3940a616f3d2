import type { OpenApiDocument } from '@opsplane/http'

type Webhooks = NonNullable<OpenApiDocument['webhooks']>

const text = { type: 'string' as const }
const header = (name: string, description: string, example: string, required = true) => ({
  ...{ name, in: 'header' as const, required, description, schema: text, example },
})

/** The request sent to an endpoint; schemas of `data` by event type are in `/events/catalog`. */
export const deliveryWebhook: Webhooks = {
  delivery: {
    post: {
      operationId: 'receiveDelivery',
      summary: 'Receive an event sent to a webhook',
      description:
        'Any 2xx within `timeout_ms` counts as success; any other outcome is retried. A delivery may arrive more ' +
        'than once: `X-Service-Delivery` is the same each time. Verify the signature over the raw bytes of the body ' +
        'before parsing it.',
      tags: ['Webhooks'],
      security: [],
      parameters: [
        header('X-Service-Event', 'The type of the event.', 'incident.created'),
        header(
          'X-Service-Delivery',
          'The id of the event, the same in each attempt.',
          'evt_01M8JG0E28QTHYEQHBBP4S6HHB',
        ),
        header(
          'X-Service-Signature-256',
          '`sha256=` and the HMAC-SHA256 of the body with the secret, in hexadecimal. Only with a secret.',
          'sha256=f4bd975edd555e09e4f707d3f6cd0723d05f29130f14f1dcff751778dc423ddd',
          false,
        ),
        header('webhook-id', 'The id of the event (Standard Webhooks).', 'evt_01M8JG0E28QTHYEQHBBP4S6HHB'),
        header('webhook-timestamp', 'When this attempt was sent, in seconds.', '1795917101'),
        header(
          'webhook-signature',
          '`v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64, one for each valid secret. Only with a secret.',
          'v1,YW3D0YzlR0bMIZ411SNO4xEBghONiKyeg7bheSh2WSg=',
          false,
        ),
      ],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: {
              type: 'object',
              required: ['id', 'webhook_id', 'event', 'timestamp', 'workspace_id', 'data'],
              properties: {
                id: { ...text, description: 'Id of the event.' },
                webhook_id: text,
                event: { ...text, description: 'Type of the event.' },
                timestamp: { ...text, format: 'date-time', description: 'Time of the event.' },
                workspace_id: text,
                data: {
                  type: 'object',
                  description:
                    'The resource after the event, its `version`, and further fields of the event type.',
                  additionalProperties: true,
                },
              },
            },
            example: {
              id: 'evt_01M8JG0E28QTHYEQHBBP4S6HHB',
              webhook_id: 'wh_01M8JG0D3DFQQPNA0SNCTPT0WN',
              event: 'incident.created',
              timestamp: '2026-11-29T01:51:41.017Z',
              workspace_id: 'ws_01M8JF5DS86Q0AS2HP64JYAASV',
              data: {
                version: 1,
                id: 'inc_01M8JG0DYZ28H9MFSRN87TDZFP',
                number: 'INC-1',
                title: 'Checkout answers 500',
              },
            },
          },
        },
      },
      responses: { '2XX': { description: 'The delivery succeeded.' } },
    },
  },
}
