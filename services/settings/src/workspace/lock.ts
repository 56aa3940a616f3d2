import { type Serialized, type SerializerContext, serializer } from '@opsplane/eventstore'
import { eq } from 'drizzle-orm'
import { workspaces } from '../schema.js'

/** Serializes decisions about the members and roles of the workspace of `meta` by a lock on its row. */
export const workspaceLock = (ctx: SerializerContext): Serialized =>
  serializer(ctx, (tx, { workspaceId }) =>
    tx.select({ id: workspaces.id }).from(workspaces).where(eq(workspaces.id, workspaceId)).for('update'),
  )
