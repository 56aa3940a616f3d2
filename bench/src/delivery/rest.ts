import { setTimeout as delay } from 'node:timers/promises'
import { connect } from '@nats-io/transport-node'
import type { Cluster } from '@opsplane/local'
import { parseServerUrl } from '@opsplane/nats'
import postgres from 'postgres'
import type { MeasureOptions } from '../log/creates.js'
import { consumersCaughtUp } from '../log/pipeline.js'
import { cpuAtRest } from '../process-times.js'
import type { Figure } from '../report.js'

const restSeconds = 30
/**
 * Waits for the work that follows a start or a load: consumers that poll frequently for 10 to 20 s, pools, leases,
 * and the one heap collection (0.1 to 0.15 s of CPU) that V8 performs after a process has been idle for one to three
 * minutes.
 */
const settleSeconds = 240

/** Measures the cost of the whole platform while it receives no requests. */
export async function measureRest({ cluster, say }: MeasureOptions): Promise<Figure[]> {
  await consumersCaughtUp(cluster)
  await delay(settleSeconds * 1000)
  say(`Resting for twice ${restSeconds} s…`)
  const { percent, parts } = await cpuAtRest(cluster, restSeconds)
  // Not at the same time: NATS is also woken to forward each counted message to this process.
  const counts = await openCounts(cluster)
  const before = await counts.read()
  await delay(restSeconds * 1000)
  const after = await counts.read()
  await counts.close()
  const commitsPerSecond = (after.commits - before.commits) / restSeconds
  const messagesPerSecond = (after.messages - before.messages) / restSeconds
  return [
    {
      name: 'CPU at rest',
      value: `${percent.toFixed(2)} % of a core (${parts})`,
      goal: '< 1 %',
      met: percent < 1,
    },
    {
      name: 'commits at rest',
      value: `${commitsPerSecond.toFixed(1)}/s`,
      goal: '< 5/s',
      met: commitsPerSecond < 5,
    },
    { name: 'NATS messages at rest', value: `${messagesPerSecond.toFixed(1)}/s`, goal: '', met: true },
  ]
}

/** Transactions of all databases and messages of all NATS clients so far. */
async function openCounts({ info }: Cluster) {
  const sql = postgres(info.postgresUrl, { max: 1 })
  const connection = await connect(parseServerUrl(info.natsUrl))
  let messages = 0
  connection.subscribe('>', { callback: () => void messages++ })
  await connection.flush()
  return {
    read: async () => {
      const [row] = await sql<{ count: number }[]>`
        select sum(xact_commit + xact_rollback)::float8 as count from pg_stat_database`
      return { commits: row?.count ?? 0, messages }
    },
    close: async () => {
      await connection.close()
      await sql.end()
    },
  }
}
