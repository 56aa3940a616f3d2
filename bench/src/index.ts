import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { openState, startCluster } from '@opsplane/local'
import { Command } from 'commander'
import { measureCreates } from './creates.js'
import { measureDeliveries } from './deliveries.js'
import { measureLists } from './lists.js'
import { measureLoginFlood } from './login-flood.js'
import { measurePolls } from './polls.js'
import { measureRelevance } from './relevance.js'
import { type Figure, printFigures } from './report.js'
import { measureSla } from './sla.js'
import { measureTarpit } from './tarpit.js'
import { measureTopics } from './topics.js'
import { measureTopology } from './topology.js'

const program = new Command('opsplane-bench')
  .description('Measures the platform beside the raw limits of this machine, and prints the ratios.')
  .option('--seconds <n>', 'length of each measured load', '8')
  .option('--json', 'print the figures as JSON')
  .parse()
const options = program.opts<{ seconds: string; json?: boolean }>()
const seconds = Number(options.seconds)
const say = (text: string) => console.error(text)

const folder = mkdtempSync(join(tmpdir(), 'opsplane-bench-'))
say(`Starting Postgres, NATS and the services as processes (${cpus().length} cores)…`)
const cluster = await startCluster({
  state: openState(join(folder, 'state')),
  postgresFlags: ['shared_preload_libraries=pg_stat_statements'],
  extra: { RATE_LIMIT_PER_MINUTE: '0' },
})
const figures: Figure[] = []
try {
  figures.push(...(await measureCreates({ cluster, seconds, say })))
  figures.push(...(await measureLoginFlood({ cluster, seconds, say })))
  figures.push(...(await measureDeliveries({ cluster, seconds, say })))
  figures.push(...(await measureTarpit({ cluster, seconds, say })))
  figures.push(...(await measureTopics({ cluster, seconds, say })))
  figures.push(...(await measureTopology({ cluster, say })))
  figures.push(...(await measurePolls({ cluster, seconds, say })))
  figures.push(...(await measureSla({ cluster, seconds, say })))
  figures.push(...(await measureRelevance({ cluster, say })))
  // Last, as it fills the tables the others write to.
  figures.push(...(await measureLists({ cluster, say })))
} finally {
  await cluster.stop()
  rmSync(folder, { recursive: true, force: true })
}
if (options.json) console.log(JSON.stringify(figures, null, 2))
else printFigures(figures)
