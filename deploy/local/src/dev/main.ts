import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { startCluster } from '../cluster.js'
import { choosePorts, LocalRunError, parsePort } from '../ports.js'
import { buildOrigins } from '../start/origins.js'
import { startProblem } from '../start/problems.js'
import { stopOnSignal } from '../start/stop-on-signal.js'
import { openState } from '../state.js'
import { update } from './update.js'
import { watchSources } from './watch-sources.js'

interface DevOptions {
  port?: number
  home: string
}

const repository = fileURLToPath(new URL('../../../..', import.meta.url))
const print = (text: string) => console.log(text)

async function run({ home, port }: DevOptions): Promise<void> {
  const root = resolve(home)
  try {
    await runWith(openState(root), port ?? (process.env.PORT ? parsePort(process.env.PORT) : undefined))
  } catch (error) {
    const place = { root, logFile: join(root, '<service>.log'), environment: {} }
    console.error(`\n${startProblem(error, place)}`)
    process.exit(1)
  }
}

/** Runs each service as a separate process, on the data of `npm start`. */
async function runWith(state: ReturnType<typeof openState>, port: number | undefined): Promise<void> {
  const running = state.running()
  if (running)
    throw new LocalRunError(
      `Opsplane already runs here: ${running.origin} (process ${running.pid}). Stop it first, or use another OPSPLANE_HOME.`,
    )
  const stopping = stopOnSignal(print)
  const ports = await choosePorts(port, state.lastPort())
  const starting = startCluster({ state, ports, origins: buildOrigins(ports.gateway) })
  // The child processes would otherwise outlive this one.
  const stop = async () => {
    await (await starting).stop()
    state.removeInfo()
  }
  stopping.use({ stop })
  const cluster = await starting
  state.writeInfo(cluster.info)
  state.keepPort(ports.gateway)
  const sources = watchSources(repository, () => update(cluster.services, print))
  stopping.use({
    async stop() {
      sources.close()
      await stop()
    },
  })
  print(`
Console        ${cluster.info.origin}
API            ${cluster.info.baseUrl}
Sign in        ${cluster.info.email} / ${cluster.info.password}
API key        in ${state.root}/local.json
Logs           ${state.root}/<service>.log

Sources are watched. Ctrl-C stops everything; the data stays in ${state.root}.`)
}

void new Command('npm run dev --')
  .description(
    'Start the platform with each service as a process of its own, and restart those services whose sources change. ' +
      'Types are not checked (npm run types). Migrations and the local run itself are taken up at the next start.',
  )
  .option('--port <port>', 'port of the API (or PORT); a free one by default', parsePort)
  .option('--home <folder>', 'where the state is kept', process.env.OPSPLANE_HOME ?? '.opsplane')
  .action(run)
  .parseAsync()
