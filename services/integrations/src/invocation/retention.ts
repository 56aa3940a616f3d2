import { type CreateWorker, transactionWorker } from '@opsplane/postgres'
import { expiredInvocations } from '../schema.js'

/** Deletes invocations whose retention has ended. */
export function retentionWork(): CreateWorker {
  return transactionWorker({
    name: 'expired invocations',
    of: expiredInvocations,
    batch: 500,
    perform: (tx, rows) =>
      tx.unsafe('delete from connector_invocations where id = any ($1::text[])', [
        rows.map(({ key }) => key),
      ]),
  })
}
