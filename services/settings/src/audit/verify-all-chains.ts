import { connect, type Drizzle } from '@opsplane/postgres'
import { asc } from 'drizzle-orm'
import { auditHeads } from '../schema.js'
import { emptyChain } from './chain.js'
import { readChainRows, readChainState, readCheckpoints } from './chain-queries.js'
import { checkRows } from './check-rows.js'

const windowSize = 500

/**
 * Recomputes the chain of every workspace directly from the database, without the service. Compares checkpoints by
 * their hashes only, because verifying their signatures requires the service's key. Returns one line per problem.
 */
export async function verifyAllChains({ adminUrl }: { adminUrl: string }): Promise<string[]> {
  const settings = { statement_timeout: '0' }
  const database = connect(adminUrl, {
    schema: 'settings',
    max: 1,
    applicationName: 'opsplane-proof',
    settings,
  })
  try {
    const heads = await database.db.select().from(auditHeads).orderBy(asc(auditHeads.workspaceId))
    const problems: string[] = []
    for (const { workspaceId } of heads) {
      const problem = await proveChain(database.db, workspaceId)
      if (problem) problems.push(`the audit log of ${workspaceId} ${problem}`)
    }
    return problems
  } finally {
    await database.close()
  }
}

async function proveChain(db: Drizzle, workspaceId: string): Promise<string | undefined> {
  const { head, lastSeq } = await readChainState(db, workspaceId)
  const goal = head?.seq ?? 0
  if (lastSeq < goal) return `ends at ${lastSeq}, and its head is at ${goal}`
  for (let end = emptyChain; end.seq < goal; ) {
    const [from, to] = [end.seq + 1, Math.min(end.seq + windowSize, goal)]
    const rows = await readChainRows(db, workspaceId, from, to)
    const checkpoints = await readCheckpoints(db, workspaceId, from, to)
    const outcome = checkRows(end, rows, { head, checkpoints, signatureOf: () => 'unknown_key' })
    if (outcome.problem) return `is ${outcome.problem.kind} at ${outcome.problem.seq}`
    if (outcome.end.seq < to) return `lacks ${outcome.end.seq + 1}`
    end = outcome.end
  }
  return undefined
}
