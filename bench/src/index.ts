import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { openState, startCluster } from '@opsplane/local'
import { limitTable } from '@opsplane/runtime'
import { Argument, Command } from 'commander'
import { measureAnalytics } from './analytics.js'
import { measureAppend } from './append.js'
import { measureBulk } from './bulk.js'
import { measureCode } from './code.js'
import { measureConflicts } from './conflicts.js'
import { measureCreates } from './creates.js'
import { measureDelivered } from './delivered.js'
import { measureDeliveries } from './deliveries.js'
import { measureExports } from './exports.js'
import { measureExpressions } from './expressions.js'
import { measureFloods } from './floods.js'
import { measureLists } from './lists.js'
import { measureLoginFlood } from './login-flood.js'
import { measurePolls } from './polls.js'
import { measureRecords } from './records.js'
import { measureImport } from './records-import.js'
import { measureRecordsMillion } from './records-million.js'
import { measureRelay } from './relay.js'
import { measureRelevance } from './relevance.js'
import { type Figure, printFigures } from './report.js'
import { measureRest } from './rest.js'
import { measureRestart } from './restart.js'
import { measureRuns } from './runs.js'
import { measureSla } from './sla.js'
import { measureTarpit } from './tarpit.js'
import { measureTopics } from './topics.js'
import { measureTopology } from './topology.js'
import { measureWebhooks } from './webhooks.js'

/** In the order they run, by the names the command takes. */
const measures = {
  // First, before the other measurements' writes leave work for autovacuum.
  rest: measureRest,
  delivered: measureDelivered,
  restart: measureRestart,
  append: measureAppend,
  relay: measureRelay,
  bulk: measureBulk,
  creates: measureCreates,
  'login-flood': measureLoginFlood,
  floods: measureFloods,
  deliveries: measureDeliveries,
  webhooks: measureWebhooks,
  tarpit: measureTarpit,
  topics: measureTopics,
  topology: measureTopology,
  conflicts: measureConflicts,
  polls: measurePolls,
  records: measureRecords,
  'records-million': measureRecordsMillion,
  'records-import': measureImport,
  exports: measureExports,
  runs: measureRuns,
  sla: measureSla,
  analytics: measureAnalytics,
  expressions: measureExpressions,
  code: measureCode,
  relevance: measureRelevance,
  // Last, as it fills the tables the others write to.
  lists: measureLists,
}
const names = Object.keys(measures)

const program = new Command('opsplane-bench')
  .description('Measures the platform beside the raw limits of this machine, and prints the ratios.')
  .addArgument(new Argument('[names...]', 'just these').choices(names))
  .option('--seconds <n>', 'length of each measured load', '8')
  .option('--json', 'print the figures as JSON')
  .parse()
const options = program.opts<{ seconds: string; json?: boolean }>()
const chosen = program.args.length > 0 ? program.args : names
const seconds = Number(options.seconds)
const say = (text: string) => console.error(text)

/** What is measured is what the platform can do, not what a tenant may. */
const unlimited = Object.fromEntries(Object.keys(limitTable).map((name) => [name, 0]))

const folder = mkdtempSync(join(tmpdir(), 'opsplane-bench-'))
say(`Starting Postgres, NATS and the services as processes (${cpus().length} cores)…`)
const cluster = await startCluster({
  state: openState(join(folder, 'state')),
  postgresFlags: ['shared_preload_libraries=pg_stat_statements'],
  extra: { RATE_LIMIT_PER_MINUTE: '0', LIMITS: JSON.stringify(unlimited) },
})
const figures: Figure[] = []
try {
  for (const [name, measure] of Object.entries(measures)) {
    if (chosen.includes(name)) figures.push(...(await measure({ cluster, seconds, say })))
  }
} finally {
  await cluster.stop()
  rmSync(folder, { recursive: true, force: true })
}
if (options.json) console.log(JSON.stringify(figures, null, 2))
else printFigures(figures)
