import type postgres from 'postgres'

type Begin = (...args: unknown[]) => Promise<unknown>
type Work = (tx: postgres.TransactionSql) => unknown

const hooksOf = new WeakMap<object, Set<() => void>>()

/**
 * Calls `hook` once the transaction is committed, only once per transaction even if registered repeatedly, and
 * never if the whole transaction is rolled back. Throws unless `tx` is a transaction of a client passed to
 * `trackTransactions`.
 */
export function afterCommit(tx: Pick<postgres.Sql, 'unsafe'>, hook: () => void): void {
  const hooks = hooksOf.get(tx)
  if (!hooks) throw new Error('Not a transaction of a client that openClient has opened.')
  hooks.add(hook)
}

/** Makes `afterCommit` available for a client's transactions and their savepoints. */
export function trackTransactions(client: postgres.Sql): void {
  const begin = client.begin.bind(client) as Begin
  const tracked: Begin = async (...args) => {
    const hooks = new Set<() => void>()
    const result = await begin(...withTracked(args, hooks))
    for (const hook of hooks) hook()
    return result
  }
  client.begin = tracked as typeof client.begin
}

/** The arguments of `begin` or `savepoint`, with their last one, the work, wrapped. */
function withTracked(args: readonly unknown[], hooks: Set<() => void>): unknown[] {
  const work = args.at(-1) as Work
  return [...args.slice(0, -1), (tx: postgres.TransactionSql) => work(track(tx, hooks))]
}

function track(tx: postgres.TransactionSql, hooks: Set<() => void>): postgres.TransactionSql {
  hooksOf.set(tx, hooks)
  const savepoint = tx.savepoint.bind(tx) as Begin
  tx.savepoint = ((...args: unknown[]) => savepoint(...withTracked(args, hooks))) as typeof tx.savepoint
  return tx
}
