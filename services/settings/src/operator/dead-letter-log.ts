import { type DeadLetter, platformTenant, type TenantScope } from '@opsplane/contracts'
import { appendJournal } from '@opsplane/eventstore'
import type { RequestMeta } from '@opsplane/http'
import { toStatementRunner } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'

/** Records an operator's action on a dead letter before it is performed, so that no action goes unrecorded. */
export const createDeadLetterReport =
  ({ database: { db }, relay }: Pick<ServiceContext, 'database' | 'relay'>) =>
  async (
    type: 'dead_letter.redriven' | 'dead_letter.dropped',
    letter: DeadLetter,
    { actor, now, requestId, source }: RequestMeta,
  ): Promise<void> => {
    const tenant = toTenant(letter)
    const after = type === 'dead_letter.dropped' ? null : { ...letter, redrivenAt: now }
    await db.transaction((tx) =>
      appendJournal(toStatementRunner(tx), {
        ...{ streamType: 'dead_letter', streamId: `dead_letter/${letter.id}/${tenant.workspaceId}` },
        ...{ tenant, type, actor, requestId, source, createdAt: now },
        resource: { type: 'dead_letter', id: letter.id, displayName: letter.eventType ?? letter.consumer },
        data: { before: letter, after, changes: after === null ? Object.keys(letter) : ['redrivenAt'] },
      }),
    )
    relay.wake()
  }

const toTenant = ({ workspaceId, environment }: DeadLetter): TenantScope =>
  workspaceId === null || environment === null ? platformTenant : { workspaceId, environment }
