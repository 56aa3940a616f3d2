import { AsyncLocalStorage } from 'node:async_hooks'
import type postgres from 'postgres'

interface OpenTransaction {
  client: postgres.Sql
  isOpen: boolean
  outer: OpenTransaction | undefined
}
type Call = (...args: never[]) => unknown

const transactions = new AsyncLocalStorage<OpenTransaction>()
let guarding = 0

/**
 * For clients opened while `work` runs: a statement sent through the pool by code inside a transaction of that
 * pool throws, because with as many such transactions as connections each would wait for another until Postgres
 * ends them. For tests, because it tracks every call.
 */
export async function withGuardedConnections<T>(work: () => Promise<T>): Promise<T> {
  guarding++
  try {
    return await work()
  } finally {
    guarding--
  }
}

/** The client unchanged or, within `withGuardedConnections`, one whose transactions and statements are tracked. */
export function guardConnections(client: postgres.Sql): postgres.Sql {
  if (guarding === 0) return client
  const inTransaction = () => {
    for (let open = transactions.getStore(); open; open = open.outer)
      if (open.isOpen && open.client === client) return true
    return false
  }
  const refuse = (statement: unknown) => {
    if (inTransaction())
      throw new Error(`Send this by the transaction, not by its pool: ${String(statement).slice(0, 200)}`)
  }
  const begin = client.begin.bind(client) as (...args: unknown[]) => Promise<unknown>
  const unsafe = client.unsafe.bind(client) as Call
  client.begin = (async (...args: unknown[]) => {
    refuse('begin')
    const open = { client, isOpen: false, outer: transactions.getStore() }
    const work = args.at(-1) as Call
    const within = (...tx: never[]) => {
      open.isOpen = true
      return work(...tx)
    }
    try {
      return await transactions.run(open, () => begin(...args.slice(0, -1), within))
    } finally {
      open.isOpen = false
    }
  }) as typeof client.begin
  client.unsafe = ((...args: never[]) => {
    refuse(args[0])
    return unsafe(...args)
  }) as typeof client.unsafe
  return new Proxy(client, {
    apply(target, thisArg, args: unknown[]) {
      // Identifiers and lists of values use the same call; only a template is a statement.
      if (Array.isArray(args[0]) && 'raw' in args[0]) refuse(args[0].join('…'))
      return Reflect.apply(target as unknown as Call, thisArg, args)
    },
  })
}
