import type { FactorState } from '@opsplane/contracts'
import type { Transaction } from '@opsplane/eventstore'
import { toStatementRunner } from '@opsplane/postgres'
import { type LoginContext, recordLoginEvent } from '../session/session-log.js'

const factorEvent = (type: 'factor.added' | 'factor.removed' | 'factor.clone_suspected') => {
  const isRemoved = type === 'factor.removed'
  const isNew = type === 'factor.added'
  return (tx: Transaction, factor: FactorState, context: LoginContext) =>
    recordLoginEvent(
      { db: tx, run: toStatementRunner(tx) },
      {
        ...{ type, userId: factor.userId },
        resource: { type: 'factor', id: factor.id, displayName: factor.name },
        data: { before: isNew ? null : factor, after: isRemoved ? null : factor },
      },
      context,
    )
}

export const reportAdded = factorEvent('factor.added')
export const reportRemoved = factorEvent('factor.removed')
export const reportCloneSuspected = factorEvent('factor.clone_suspected')

/** @param left - number of unused codes */
export const reportRecoveryCodes = (
  tx: Transaction,
  type: 'recovery_codes.created' | 'recovery_codes.used',
  { userId, left }: { userId: string; left: number },
  context: LoginContext,
) =>
  recordLoginEvent(
    { db: tx, run: toStatementRunner(tx) },
    {
      ...{ type, userId },
      resource: { type: 'login', id: userId, displayName: context.actor.name },
      data: { before: null, after: { id: userId, left } },
    },
    context,
  )
