import { RotatedWebhook, RotateWebhookSecret, type TenantScope } from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import { type RotationContext, rotateSecret } from './rotate-secret.js'

export interface RotateRoutesContext extends RotationContext {
  /** Called after the webhook was changed. */
  onChange(webhookId: string, tenant: TenantScope): void
}

export function rotateRoutes(context: RotateRoutesContext): Route[] {
  return [
    defineRoute({
      operationId: 'rotateWebhookSecret',
      stepUp: true,
      method: 'post',
      path: '/webhooks/:id/secrets/rotate',
      summary: 'Rotate the signing secret',
      description:
        'The new secret is given, or made here and shown this once. The replaced one stays valid for the overlap: ' +
        'X-Service-Signature-256 is by the old secret until then, and webhook-signature has one signature per valid secret, ' +
        'newest first. With `overlapSeconds` 0, as after a leak, both are by the new one at once. Emits `webhook.secret_rotated`. `conflict` when ten secrets are valid already.',
      tag: 'Webhooks',
      scope: 'webhooks:write',
      body: RotateWebhookSecret,
      response: RotatedWebhook,
      errors: ['not_found', 'conflict'],
      redactReplay: (rotated) => ({ ...rotated, secret: null }),
      handler: async ({ params, body, meta }) => {
        const rotated = await rotateSecret(context, params.id, body, meta)
        context.onChange(params.id, meta.tenant)
        return rotated
      },
    }),
  ]
}
