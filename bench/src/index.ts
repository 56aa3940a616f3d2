import { mkdirSync } from 'node:fs'
import { cpus } from 'node:os'
import { join, resolve } from 'node:path'
import { Argument, Command } from 'commander'
import { measureAnalytics } from './analytics.js'
import { measureBackup } from './backup.js'
import { measureCode } from './code/code.js'
import { measureConsole } from './console/console.js'
import { measureDelivered } from './delivery/delivered.js'
import { measureDeliveries } from './delivery/deliveries.js'
import { measureLists } from './delivery/lists.js'
import { measurePolls } from './delivery/polls.js'
import { measureRest } from './delivery/rest.js'
import { measureRestart } from './delivery/restart.js'
import { measureStreams } from './delivery/streams.js'
import { measureTarpit } from './delivery/tarpit.js'
import { measureTelemetry } from './delivery/telemetry.js'
import { measureTopics } from './delivery/topics.js'
import { measureWebhooks } from './delivery/webhooks.js'
import { disturbedPercent } from './disturbance.js'
import { endAll, InterruptedError, temporaryFolder, waitForInterrupt } from './ending.js'
import { fillWal, removeWebhooks, startMeasured } from './environment.js'
import { measureExports } from './exports.js'
import { measureExpressions } from './expressions.js'
import { measureConflicts } from './itsm/conflicts.js'
import { measureRelevance } from './itsm/relevance.js'
import { measureSla } from './itsm/sla.js'
import { measureTopology } from './itsm/topology.js'
import { measureDearest } from './limits/dearest.js'
import { measureFloods } from './limits/floods.js'
import { measureLoginFlood } from './limits/login-flood.js'
import { measureAppend } from './log/append.js'
import { measureBulk } from './log/bulk.js'
import { measureCreates } from './log/creates.js'
import { measureRelay } from './log/relay.js'
import { measureRecords } from './records/records.js'
import { measureImport } from './records/records-import.js'
import { measureRecordsMillion } from './records/records-million.js'
import { type Figure, printFigures } from './report.js'
import { measureRuns } from './runs.js'

/** Measurements in the order they run, by the names the command accepts. */
const measures = {
  // First, before the writes of other measurements leave work for autovacuum.
  rest: measureRest,
  delivered: measureDelivered,
  telemetry: measureTelemetry,
  restart: measureRestart,
  append: measureAppend,
  relay: measureRelay,
  bulk: measureBulk,
  creates: measureCreates,
  'login-flood': measureLoginFlood,
  floods: measureFloods,
  dearest: measureDearest,
  deliveries: measureDeliveries,
  webhooks: measureWebhooks,
  tarpit: measureTarpit,
  topics: measureTopics,
  topology: measureTopology,
  conflicts: measureConflicts,
  polls: measurePolls,
  stream: measureStreams,
  records: measureRecords,
  'records-million': measureRecordsMillion,
  'records-import': measureImport,
  exports: measureExports,
  runs: measureRuns,
  sla: measureSla,
  analytics: measureAnalytics,
  expressions: measureExpressions,
  code: measureCode,
  console: measureConsole,
  relevance: measureRelevance,
  backup: measureBackup,
  // Last, because it fills the tables the other measurements write to.
  lists: measureLists,
}
const names = Object.keys(measures)

const program = new Command('opsplane-bench')
  .description('Measures the platform against the raw limits of this machine, and prints the ratios.')
  .addArgument(new Argument('[names...]', 'just these').choices(names))
  .option('--seconds <n>', 'length of each measured load', '8')
  .option('--json', 'print the figures as JSON')
  .parse()
const options = program.opts<{ seconds: string; json?: boolean }>()
const chosen = program.args.length > 0 ? program.args : names
const seconds = Number(options.seconds)
const log = (text: string) => console.error(text)

/** BENCH_KEEP names a folder whose state is kept and reused, for data that takes long to generate. */
const kept = process.env.BENCH_KEEP
const logDisturbance = () =>
  log(
    `A process that only reads memory waits ${disturbedPercent().toFixed(0)} % of its time (2 % on a quiet machine).`,
  )

async function measureAll(): Promise<Figure[]> {
  const folder = kept ? resolve(kept) : temporaryFolder('state')
  mkdirSync(folder, { recursive: true })
  logDisturbance()
  log(`Starting Postgres, NATS and the services as processes (${cpus().length} cores)…`)
  const cluster = await startMeasured(join(folder, 'state'))
  const { postgresUrl } = cluster.info
  await fillWal(postgresUrl)
  const figures: Figure[] = []
  for (const [name, measure] of Object.entries(measures)) {
    if (!chosen.includes(name)) continue
    figures.push(...(await measure({ cluster, seconds, say: log })))
    await removeWebhooks(postgresUrl)
  }
  logDisturbance()
  return figures
}

try {
  const figures = await Promise.race([measureAll(), waitForInterrupt()])
  if (options.json) console.log(JSON.stringify(figures, null, 2))
  else printFigures(figures)
} catch (error) {
  // Printed before the servers end, which may end this process too.
  if (!(error instanceof InterruptedError)) console.error(error)
  process.exitCode = error instanceof InterruptedError ? error.exitCode : 1
} finally {
  await endAll()
}
// A measurement that was interrupted may still be waiting for a response.
process.exit()
