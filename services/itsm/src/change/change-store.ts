import { type Change, type ChangeState, type NewChange, newId, type TenantScope } from '@opsplane/contracts'
import type { BackendContext } from '@opsplane/eventstore'
import type { RequestMeta } from '@opsplane/http'
import { change } from './domain.js'
import { riskFacts } from './items.js'
import { changeIdByNumber } from './queries.js'
import { allowedActions } from './transitions.js'

/** The changes as the API shows them, and the commands that need more than the change itself. */
export function changeStore({ store, database: { db } }: BackendContext) {
  const aggregate = store.aggregate(change, { present })
  return {
    ...aggregate,
    async draft(input: NewChange, meta: RequestMeta): Promise<Change> {
      const id = newId('change')
      const facts = await riskFacts(db, meta.tenant, { id, ciIds: input.ciIds })
      const number = `CHG-${await store.numbers.next(meta.tenant.workspaceId, 'change')}`
      const { actor: by, now } = meta
      const command = { id, number, by, userId: meta.principal.userId, now, input, facts }
      return aggregate.create(id, { kind: 'create', ...command }, meta)
    },
    /** Paths take an id or a number such as `CHG-12`; anything else is an id that does not exist. */
    idOf: async (reference: string, tenant: TenantScope): Promise<string> =>
      /^CHG-[1-9]\d{0,8}$/.test(reference)
        ? ((await changeIdByNumber(db, tenant, reference)) ?? reference)
        : reference,
  }
}
export type ChangeStore = ReturnType<typeof changeStore>

function present(state: ChangeState, version: number): Change {
  return { ...state, version, allowedActions: allowedActions(state) }
}
