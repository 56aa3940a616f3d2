import { readFileSync } from 'node:fs'
import { createLogger } from '@opsplane/runtime'
import { type CodeRequest, createCodeRunner } from '@opsplane/sandbox'
import { percentile } from '../child.js'
import type { MeasureOptions } from '../log/creates.js'
import type { Figure } from '../report.js'
import { measureInvocations } from './invocations.js'

const goals = { warmMs: 3, spareMs: 10, callMs: 0.3, memoryMb: 64, fair: 2 }
const tenants = 20
const callersOfTenant = 50
const calls = 100
const megabyte = 1024 * 1024

const returns = 'export default (input) => ({ doubled: input.n * 2 })'
const callsHost = `export default async (input, host) => {
  for (let n = 0; n < input.n; n += 1) await host.echo(n)
}`
const limits = {
  cpuMs: 10_000,
  wallMs: 60_000,
  memoryMb: 64,
  inputBytes: megabyte,
  outputBytes: megabyte,
  logBytes: 100_000,
  hostCalls: 1_000,
  hostCallsAtOnce: 10,
}

type Runner = ReturnType<typeof createCodeRunner>

/**
 * Measures tenant code in child processes: time per invocation, cost of a host call, and how capacity is shared
 * between tenants.
 */
export async function measureCode(options: MeasureOptions): Promise<Figure[]> {
  return [...(await measureRunner(options)), ...(await measureInvocations(options))]
}

async function measureRunner({ seconds, say }: Pick<MeasureOptions, 'seconds' | 'say'>): Promise<Figure[]> {
  const runner = createCodeRunner({
    log: createLogger({ service: 'bench', level: 'error' }),
    maxWaitMs: 600_000,
  })
  try {
    say('Running code: one tenant, one after another…')
    const first = await measureRunMs(runner, 'first', returns)
    const warm = await repeat(seconds, () => measureRunMs(runner, 'first', returns))
    const withCalls = await repeat(seconds / 2, () => measureRunMs(runner, 'first', callsHost, calls))
    const without = await repeat(seconds / 2, () => measureRunMs(runner, 'first', callsHost, 0))
    const callMs = (percentile(withCalls, 0.5) - percentile(without, 0.5)) / calls
    say('Running code: first invocations of tenants, on spare children…')
    const spare = await onSpares(runner)
    const memoryMb = percentile(runner.pids('spare').map(privateMb), 0.5)
    say(`Running code: ${tenants} tenants with ${callersOfTenant} callers each…`)
    return [
      ...latencies({ warm, spare, callMs, first }),
      {
        name: 'memory of a child without work, its own',
        value: `${memoryMb.toFixed(0)} MB`,
        goal: `≤ ${goals.memoryMb} MB`,
        met: memoryMb <= goals.memoryMb,
      },
      fairness(await sharesOf(runner, seconds), seconds),
    ]
  } finally {
    await runner.close()
  }
}

function fairness(shares: number[], seconds: number): Figure {
  const [most, fewest] = [Math.max(...shares), Math.min(...shares)]
  const perSecond = shares.reduce((sum, done) => sum + done, 0) / seconds
  return {
    name: `most by fewest invocations of ${tenants} tenants with ${callersOfTenant} callers each`,
    value: `${(most / Math.max(1, fewest)).toFixed(2)} (${perSecond.toFixed(0)}/s)`,
    goal: `≤ ${goals.fair}`,
    met: most <= goals.fair * fewest,
  }
}

function latencies(measured: { warm: number[]; spare: number[]; callMs: number; first: number }): Figure[] {
  const { callMs, first } = measured
  const [warm, spare] = [percentile(measured.warm, 0.5), percentile(measured.spare, 0.5)]
  return [
    {
      name: 'an invocation of code, p50 (p99)',
      value: `${warm.toFixed(2)} ms (${percentile(measured.warm, 0.99).toFixed(2)} ms)`,
      goal: `≤ ${goals.warmMs} ms`,
      met: warm <= goals.warmMs,
    },
    {
      name: 'the first of a tenant, on a spare child, p50 (the very first)',
      value: `${spare.toFixed(2)} ms (${first.toFixed(0)} ms)`,
      goal: `≤ ${goals.spareMs} ms`,
      met: spare <= goals.spareMs,
    },
    {
      name: 'a call of the host',
      value: `${callMs.toFixed(3)} ms`,
      goal: `≤ ${goals.callMs} ms`,
      met: callMs <= goals.callMs,
    },
  ]
}

async function measureRunMs(runner: Runner, tenant: string, code: string, n = 21): Promise<number> {
  const request: CodeRequest = {
    tenant,
    code,
    args: [{ n }],
    limits,
    functions: ['echo'],
    host: async ({ args }) => args[0] ?? null,
  }
  const begun = performance.now()
  const { status, error } = await runner.run(request)
  if (status !== 'completed') throw new Error(JSON.stringify(error))
  return performance.now() - begun
}

async function repeat(seconds: number, act: () => Promise<number>): Promise<number[]> {
  const until = performance.now() + seconds * 1_000
  const all: number[] = []
  while (performance.now() < until) all.push(await act())
  return all
}

async function onSpares(runner: Runner): Promise<number[]> {
  const all: number[] = []
  for (let n = 0; n < 15; n += 1) {
    while (runner.pids('spare').length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
    all.push(await measureRunMs(runner, `spare${n}`, returns))
  }
  while (runner.pids('spare').length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
  return all
}

/** Memory of a process that it shares with no other process, in MB. */
function privateMb(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const kilobytes = [...rollup.matchAll(/^Private_\w+:\s+(\d+)/gm)].map(([, size]) => Number(size))
  return kilobytes.reduce((sum, size) => sum + size, 0) / 1_024
}

/** Invocations of each tenant during `seconds`, counted from the moment every tenant has completed its first. */
async function sharesOf(runner: Runner, seconds: number): Promise<number[]> {
  const done = Array.from({ length: tenants }, () => 0)
  let [counts, going] = [false, true]
  const caller = async (tenant: number) => {
    while (going) {
      await measureRunMs(runner, `tenant${tenant}`, returns)
      if (counts) done[tenant] = (done[tenant] ?? 0) + 1
    }
  }
  const firsts = done.map((_, tenant) => measureRunMs(runner, `tenant${tenant}`, returns))
  const callers = done.flatMap((_, tenant) => Array.from({ length: callersOfTenant }, () => caller(tenant)))
  await Promise.all(firsts)
  counts = true
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
  going = false
  const shares = [...done]
  await Promise.all(callers)
  return shares
}
