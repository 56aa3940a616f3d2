import type { DependentsOfKind } from '@opsplane/service'

/** Webhooks that send by the rights of a person. A change of the address, also to the same one, makes its caller the owner. */
export const dependentWebhooks: DependentsOfKind = {
  kind: 'webhook',
  query: `select id, state->>'name' as name, environment, state->'url' as more from webhooks
    where workspace_id = $1 and state->>'ownerId' = $2 and status = 'active' order by id`,
  takeOver: ({ id, more: url }) => ({ method: 'PATCH', path: `/webhooks/${id}`, body: { url } }),
}
