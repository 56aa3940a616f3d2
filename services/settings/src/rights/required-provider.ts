import { and, eq, type SQL, sql } from 'drizzle-orm'
import { identityProviders } from '../schema/provider.js'
import { sessions, workspaces } from '../schema.js'

const requiring = () =>
  and(
    eq(identityProviders.workspaceId, workspaces.id),
    eq(identityProviders.required, 'true'),
    eq(identityProviders.enabled, 'true'),
  )

/**
 * For a joined row of `sessions` and `workspaces`: whether the workspace requires a provider, and the session is not
 * of a required provider.
 */
export const lacksProvider = (): SQL<boolean> => sql<boolean>`(
  exists (select from ${identityProviders} where ${requiring()})
  and not exists (select from ${identityProviders}
    where ${requiring()} and ${identityProviders.id} = ${sessions.providerId}))`
