import type { DependentsOfKind } from '@opsplane/service'

/** Webhooks that send with a user's rights. Setting the URL, even to the same value, makes the caller the owner. */
export const dependentWebhooks: DependentsOfKind = {
  kind: 'webhook',
  query: `select id, state->>'name' as name, environment, state->'url' as more from webhooks
    where workspace_id = $1 and state->>'ownerId' = $2 and status = 'active' order by id`,
  takeOver: ({ id, more: url }) => ({ method: 'PATCH', path: `/webhooks/${id}`, body: { url } }),
}
