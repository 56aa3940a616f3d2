import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openState } from '@opsplane/local'
import { backup, findTarget, readManifest, restore, verifyFiles, withServersOf } from '@opsplane/local/ops'
import { request } from 'undici'
import { headersOf, toService } from './limits/callers.js'
import type { MeasureOptions } from './log/creates.js'
import type { Figure } from './report.js'

/** Records that are there, each with its event; more for a longer look: BENCH_ROWS. */
const records = Number(process.env.BENCH_ROWS ?? 200_000)
const rowsEach = 1_000
const leastMbPerSecond = 10
/** Appends may wait for so long. */
const mostPausedMs = 500

/** A backup of a platform that runs, what it is read again for, and a restore into an empty one with its proof. */
export async function measureBackup({ cluster, say }: MeasureOptions): Promise<Figure[]> {
  say(`  writing ${records} records…`)
  await fill(cluster)
  const folder = mkdtempSync(join(tmpdir(), 'opsplane-bench-backup-'))
  const [to, home] = [join(folder, 'saved'), join(folder, 'home')]
  try {
    const { postgresUrl: databaseUrl, natsUrl } = cluster.info
    const target = findTarget({ home: folder, databaseUrl, natsUrl }, {})
    const saved = await backup({ target, to, say })
    const verifying = performance.now()
    const manifest = await readManifest(to)
    await verifyFiles(to, manifest)
    const verified = (performance.now() - verifying) / 1_000
    openState(home).saveSecrets(cluster.secrets)
    const keys = { present: cluster.secrets.masterKey, previous: [] }
    const restored = await withServersOf(home, (empty) => restore({ target: empty, from: to, keys, say }))
    const what = `${saved.rows.toLocaleString('en')} rows, ${(saved.plainBytes / 1e6).toFixed(0)} MB`
    const speed = (seconds: number) =>
      `${seconds.toFixed(1)} s: ${Math.round(saved.rows / seconds).toLocaleString('en')} rows/s, ${(saved.plainBytes / 1e6 / seconds).toFixed(1)} MB/s`
    const isFast = (seconds: number) => saved.plainBytes / 1e6 / seconds >= leastMbPerSecond
    const goal = `>= ${leastMbPerSecond} MB/s`
    return [
      { name: `backup: ${what}`, value: speed(saved.seconds), goal, met: isFast(saved.seconds) },
      {
        name: 'backup: appends waited',
        value: `${saved.pausedMs} ms`,
        goal: `< ${mostPausedMs} ms`,
        met: saved.pausedMs < mostPausedMs,
      },
      {
        name: 'backup: files, verified',
        value: `${(saved.bytes / 1e6).toFixed(0)} MB in ${verified.toFixed(1)} s`,
        goal: '-',
        met: true,
      },
      {
        name: 'backup: restored and proved',
        value: speed(restored.seconds),
        goal: '>= 2 MB/s',
        met: saved.plainBytes / 1e6 / restored.seconds >= 2,
      },
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }
}

async function fill(cluster: MeasureOptions['cluster']): Promise<void> {
  const caller = toService(cluster, 'database-studio', ['tables:write', 'records:write'])
  const login = headersOf(caller)
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
