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
      summary: 'Rotate the signing secret of a webhook',
      description:
        'The new secret is either supplied in the request or generated, in which case it is returned only once. The ' +
        'previous secret stays valid for the overlap: until then X-Service-Signature-256 is computed with the ' +
        'previous secret, and webhook-signature contains one signature per valid secret, newest first. With ' +
        '`overlapSeconds` 0, for example after a leak, both use the new secret immediately. Emits ' +
        '`webhook.secret_rotated`. Returns `conflict` if ten secrets are already valid.',
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
