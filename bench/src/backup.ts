import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Cluster, openState } from '@opsplane/local'
import {
  type BackupResult,
  backup,
  findTarget,
  type RestoreResult,
  readManifest,
  restore,
  verifyFiles,
  withLocalServers,
} from '@opsplane/local/ops'
import { request } from 'undici'
import { temporaryFolder } from './ending.js'
import { startMeasured } from './environment.js'
import { createCallerHeaders, toService } from './limits/callers.js'
import { evenly } from './load.js'
import { incidents, type MeasureOptions } from './log/creates.js'
import { consumersCaughtUp } from './log/pipeline.js'
import type { Figure } from './report.js'

/** Number of existing records, each with its event. Set BENCH_ROWS for more. */
const records = Number(process.env.BENCH_ROWS ?? 200_000)
const rowsEach = 1_000
const leastMbPerSecond = 10
/** Maximum time appends may be blocked, in ms. */
const maxPausedMs = 500
/** Incidents created per second while the backup is made. */
const acceptedPerSecond = 10

/**
 * Measures a backup of a running platform under load, its verification, and a restore into an empty platform with
 * its proof, until the first request that the restored platform answers: how many acknowledged writes are lost, and
 * how long the platform is unavailable.
 */
export async function measureBackup({ cluster, say }: MeasureOptions): Promise<Figure[]> {
  say(`  writing ${records} records…`)
  await fill(cluster)
  const folder = temporaryFolder('backup')
  const [to, home] = [join(folder, 'saved'), join(folder, 'home')]
  try {
    const { postgresUrl: databaseUrl, natsUrl } = cluster.info
    const target = findTarget({ home: folder, databaseUrl, natsUrl }, {})
    const load = acceptedMeanwhile(cluster)
    const saved = await backup({ target, to, say }).finally(load.stop)
    const accepted = await load.done
    const verifying = performance.now()
    const manifest = await readManifest(to)
    await verifyFiles(to, manifest)
    const verified = (performance.now() - verifying) / 1_000
    openState(home).saveSecrets(cluster.secrets)
    const keys = { present: cluster.secrets.masterKey, previous: [] }
    const restored = await withLocalServers(home, (empty) => restore({ target: empty, from: to, keys, say }))
    const again = await startAgain(home, accepted)
    return [
      ...figuresOf(saved, restored),
      {
        name: 'backup: files, verified',
        value: `${(saved.bytes / 1e6).toFixed(0)} MB in ${verified.toFixed(1)} s`,
        goal: '-',
        met: true,
      },
      {
        name: 'backup: lost right after it (RPO)',
        value: `${again.lostSeconds.toFixed(1)} s of acknowledged changes, ${again.lost} of them`,
        goal: `<= ${(saved.seconds + 1).toFixed(1)} s`,
        met: again.lostSeconds <= saved.seconds + 1,
      },
      {
        name: 'backup: from nothing to the first answer (RTO)',
        value: `${(restored.seconds + again.answeredAfter).toFixed(1)} s, ${again.answeredAfter.toFixed(1)} of them to start; events consumed again ${again.consumedAfter.toFixed(0)} s later`,
        goal: '-',
        met: true,
      },
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }
}

function figuresOf(saved: BackupResult, restored: RestoreResult): Figure[] {
  const sizeLabel = `${saved.rows.toLocaleString('en')} rows, ${(saved.plainBytes / 1e6).toFixed(0)} MB`
  const mbPerSecond = (seconds: number) => saved.plainBytes / 1e6 / seconds
  const speed = (seconds: number) =>
    `${seconds.toFixed(1)} s: ${Math.round(saved.rows / seconds).toLocaleString('en')} rows/s, ${mbPerSecond(seconds).toFixed(1)} MB/s`
  return [
    {
      name: `backup: ${sizeLabel}`,
      value: speed(saved.seconds),
      goal: `>= ${leastMbPerSecond} MB/s`,
      met: mbPerSecond(saved.seconds) >= leastMbPerSecond,
    },
    {
      name: 'backup: appends waited',
      value: `${saved.pausedMs} ms`,
      goal: `< ${maxPausedMs} ms`,
      met: saved.pausedMs < maxPausedMs,
    },
    {
      name: 'backup: restored and proved',
      value: speed(restored.seconds),
      goal: '>= 2 MB/s',
      met: mbPerSecond(restored.seconds) >= 2,
    },
  ]
}

/** An incident whose creation was acknowledged, and the time of the acknowledgement by the clock of this process. */
interface Accepted {
  id: string
  atMs: number
}

/** Creates incidents until `stop` is called; `done` resolves with the acknowledged incidents in order. */
function acceptedMeanwhile(cluster: Cluster): { stop(): void; done: Promise<Accepted[]> } {
  const { url, headers } = incidents(cluster)
  const accepted: Accepted[] = []
  let isStopped = false
  const create = async () => {
    const sent = { ...headers, 'content-type': 'application/json' }
    const body = JSON.stringify({ title: 'Created while a backup is made' })
    const answer = await request(url, { method: 'POST', headers: sent, body })
    const { data } = (await answer.body.json()) as { data: { id: string } }
    accepted.push({ id: data.id, atMs: performance.now() })
  }
  const until = async () => {
    while (!isStopped) await evenly({ rate: acceptedPerSecond, seconds: 1 }, create)
    return accepted
  }
  return {
    stop: () => {
      isStopped = true
    },
    done: until(),
  }
}

/** Starts the restored platform and checks which of the acknowledged incidents it has. */
async function startAgain(home: string, accepted: readonly Accepted[]) {
  const startedAt = performance.now()
  const cluster = await startMeasured(home)
  try {
    const { url, headers } = incidents(cluster)
    const statusOf = async (path: string) => {
      const { statusCode, body } = await request(`${url}${path}`, { headers })
      await body.dump()
      return statusCode
    }
    const first = await statusOf('?limit=1')
    if (first !== 200) throw new Error(`what was restored answered ${first}`)
    const answeredAfter = (performance.now() - startedAt) / 1_000
    let kept = accepted.length
    while (kept > 0 && (await statusOf(`/${accepted[kept - 1]?.id}`)) === 404) kept--
    const lastMs = accepted.at(-1)?.atMs ?? 0
    const lostSeconds = (lastMs - (accepted[kept - 1]?.atMs ?? accepted[0]?.atMs ?? lastMs)) / 1_000
    await consumersCaughtUp(cluster)
    const consumedAfter = (performance.now() - startedAt) / 1_000 - answeredAfter
    return { answeredAfter, consumedAfter, lost: accepted.length - kept, lostSeconds }
  } finally {
    await cluster.stop()
  }
}

async function fill(cluster: MeasureOptions['cluster']): Promise<void> {
  const caller = toService(cluster, 'database-studio', ['tables:write', 'records:write'])
  const login = createCallerHeaders(caller)
  const post = async (path: string, body: object) => {
    const headers = { ...(await login()), 'content-type': 'application/json' }
    const answer = await request(`${caller.url}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    const text = await answer.body.text()
    if (answer.statusCode !== 201)
      throw new Error(`${path} answered ${answer.statusCode}: ${text.slice(0, 300)}`)
  }
  const columns = [
    { name: 'name', type: 'text' },
    { name: 'quantity', type: 'integer' },
    { name: 'notes', type: 'text' },
  ]
  await post('/tables', { slug: 'bench_backup', columns })
  for (let done = 0; done < records; done += rowsEach)
    await post('/tables/bench_backup/records/bulk', {
      records: Array.from({ length: rowsEach }, (_, at) => ({
        ...{ name: `Asset number ${done + at}`, quantity: at, notes: 'n'.repeat(80) },
      })),
    })
}
