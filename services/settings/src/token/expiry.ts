import { platformTenant, systemActor } from '@opsplane/contracts'
import { type CreateWorker, type DueRow, transactionWorker } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import { dueKeyEnds } from '../schema.js'
import { workspaceScope } from '../tenant/workspace-scope.js'
import { token } from './domain.js'

interface EndedKey extends DueRow {
  workspace_id: string
  key_id: string
}

/** Due work: revokes expired keys with grants, so that services suspend the work that uses these grants (ADR 135). */
export function expiringKeys({ store, relay }: Pick<ServiceContext, 'store' | 'relay'>): CreateWorker {
  const keys = store.aggregate(token)
  return transactionWorker<EndedKey>({
    ...{ name: 'expired-keys', of: dueKeyEnds, batch: 100, columns: ['workspace_id', 'key_id'] },
    async perform(tx, rows) {
      const [first] = rows
      if (!first) return
      const meta = { tenant: platformTenant, actor: systemActor, now: first.at, requestId: null }
      await store.within(tx, meta, async (unit) => {
        for (const { key_id: id, workspace_id: workspaceId, at: now } of rows) {
          const options = { tenant: workspaceScope(workspaceId) }
          await unit.handle(keys, id, { kind: 'revoke', reason: 'expired', now }, options)
        }
      })
      const ids = rows.map(({ key }) => key)
      await tx.unsafe('update standing_grants set key_ends_at = null where id = any($1::text[])', [ids])
    },
    committed: () => relay.wake(),
  })
}
