import { spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProcess, signalProcess, waitForExit } from '@opsplane/runtime/server-process'
import { measureFixture } from './jest/profile.js'
import { toPortRange } from './jest/worker-ports.js'
import { waitWithin } from './wait-for.js'

const FOLDER = 'run-processes'
const START_TIMEOUT_MS = 240_000
const END_TIMEOUT_MS = 60_000
const RUN_POLL_MS = 1_000

/**
 * Starts a program shared by all test files of the run, on the first call, and returns the text it passed to
 * `serveRun`. The program ends with the run. Throws with its log if it ends before it is ready.
 */
export function startedForRun(name: string, program: string): Promise<string> {
  return measureFixture(`shared ${name}`, () => handOverOf(name, program))
}

async function handOverOf(name: string, program: string): Promise<string> {
  const folder = join(tmpdir(), FOLDER, name)
  if (claims(folder)) start(folder, program)
  const [ready, pid, log] = [join(folder, 'ready'), join(folder, 'pid'), join(folder, 'log')]
  const hasExited = () => {
    // The file is created a moment before the pid is written to it.
    const started = existsSync(pid) ? readFileSync(pid, 'utf8') : ''
    return started !== '' && findProcess(Number(started)) === undefined
  }
  await waitWithin(START_TIMEOUT_MS, () => existsSync(ready) || hasExited(), { message: program })
  if (!existsSync(ready)) throw new Error(`${program} ended: ${readFileSync(log, 'utf8')}`)
  return readFileSync(ready, 'utf8')
}

/**
 * Called in such a program: passes connection data to other processes, and ends it
 * with the run, even if the run was killed.
 */
export async function serveRun(
  start: () => Promise<{ handOver: string; stop(): Promise<void> }>,
): Promise<void> {
  const [folder = ''] = process.argv.slice(2)
  const runPid = Number(process.env.TEST_RUN_PID)
  const shutdown = new Promise<void>((resolve) => {
    process.once('SIGTERM', resolve)
    setInterval(() => findProcess(runPid) ?? resolve(), RUN_POLL_MS).unref()
  })
  const { handOver, stop } = await start()
  const written = join(folder, 'ready')
  try {
    writeFileSync(`${written}.new`, handOver, { mode: 0o600 })
    renameSync(`${written}.new`, written)
    await shutdown
  } finally {
    // Also if another run has removed the folder of a killed one.
    await stop()
  }
}

/** Ends the programs started for this run. */
export async function endRunProcesses(directory: string): Promise<void> {
  const folder = join(directory, FOLDER)
  if (!existsSync(folder)) return
  for (const name of readdirSync(folder)) {
    const pid = Number(readFileSync(join(folder, name, 'pid'), 'utf8'))
    signalProcess(pid, 'SIGTERM')
    if (!(await waitForExit(pid, END_TIMEOUT_MS))) signalProcess(pid, 'SIGKILL')
  }
}

/** Whether this process is the first to start the program. */
function claims(folder: string): boolean {
  mkdirSync(join(folder, '..'), { recursive: true })
  try {
    mkdirSync(folder)
    return true
  } catch {
    return false
  }
}

function start(folder: string, program: string): void {
  const log = openSync(join(folder, 'log'), 'a')
  const child = spawn(process.execPath, [program, folder], {
    env: { ...process.env, FREE_PORTS: toPortRange(0, Number(process.env.TEST_RUN_PID)) },
    stdio: ['ignore', log, log],
    detached: true,
  })
  writeFileSync(join(folder, 'pid'), String(child.pid))
  // It outlives the worker that started it, which may be replaced.
  child.unref()
}
