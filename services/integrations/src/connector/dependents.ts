import type { DependentsOfKind } from '@opsplane/service'

/**
 * Connectors that use secrets with the rights of a person. Submitting the configuration again makes the caller the
 * owner.
 */
export const dependentConnectors: DependentsOfKind = {
  kind: 'connector',
  query: `select id, name, environment, state->'config' as more from connectors
    where workspace_id = $1 and state->>'ownerId' = $2 and (state->>'enabled')::boolean
      and state->>'config' ~ '\\{\\{\\s*secrets\\.' order by id`,
  takeOver: ({ id, more: config }) => ({ method: 'PATCH', path: `/connectors/${id}`, body: { config } }),
}
