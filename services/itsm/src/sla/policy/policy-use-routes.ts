import { PreviewSla, ReapplySla, SlaPreview, SlaReapplied } from '@opsplane/contracts'
import type { Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import type { Clocks } from '../timer/clocks.js'
import { reapply } from '../timer/reapply.js'
import type { SlaStores } from '../timer/stores.js'
import { route } from './policy-routes.js'
import { preview } from './preview.js'

/** Routes that preview a policy on an entity, and that apply it to timers that began earlier. */
export function policyUseRoutes(ctx: ServiceContext, stores: SlaStores, clocks: Clocks): Route[] {
  return [
    route.action('preview', {
      summary: 'Preview an SLA policy on an entity',
      description:
        'Returns the timer that the entity would have if the policy had been active in its current state since the ' +
        'creation of the entity: goal, due time and counted intervals. Also works for inactive policies. Stores ' +
        'nothing and emits no event.',
      scope: 'itsm:read',
      body: PreviewSla,
      response: SlaPreview,
      idempotency: 'none',
      handler: ({ params, body, meta }) =>
        preview(ctx, stores, clocks, { policyId: params.id, reference: body.entityId, meta }),
    }),

    route.action('reapply', {
      summary: 'Reapply an SLA policy to open timers',
      description:
        'Recomputes open timers of older revisions with the current policy and calendar, 1,000 per request: repeat ' +
        'the request until `remaining` is 0. Unless `dryRun` is false, only reports the changes that it would make. ' +
        'Emits `sla.retargeted`, and `sla.canceled` where the policy no longer applies.',
      body: ReapplySla,
      response: SlaReapplied,
      handler: ({ params, body, meta }) =>
        reapply(ctx, stores, clocks, { policyId: params.id, dryRun: body.dryRun, meta }),
    }),
  ]
}
