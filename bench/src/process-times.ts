import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Cluster } from '@opsplane/local'

/** CPU time so far, user and system, in milliseconds, by part of the platform. */
export type CpuTimes = Record<string, number>

const msPerTick = 10
const nsPerMs = 1e6

/**
 * CPU time of each part since its processes started: the services, the child processes that evaluate expressions or
 * run artifacts for them (`workflows children`), Postgres with all its backends, and NATS; processes that have ended
 * are included. Uses the scheduler's figures of each thread (Linux), or, where those are not available, the process
 * table in steps of 10 ms. The figure that a busy machine affects least.
 */
export function cpuTimes({ services, postgres, nats }: Cluster): CpuTimes {
  const children = childrenMs([postgres.pid(), ...Object.values(services).map(({ pid }) => pid() ?? 0)])
  const parts: CpuTimes = { postgres: familyMs(postgres.pid(), children), nats: ownMs(nats.pid()) }
  for (const { name, pid } of Object.values(services)) {
    const id = pid() ?? 0
    parts[name] = ownMs(id)
    const ofChildren = (timesOf(id)?.endedMs ?? 0) + (children.get(id) ?? 0)
    if (ofChildren > 0) parts[`${name} children`] = ofChildren
  }
  return parts
}

export function cpuSince(before: CpuTimes, after: CpuTimes): CpuTimes {
  return Object.fromEntries(Object.entries(after).map(([name, ms]) => [name, ms - (before[name] ?? 0)]))
}

export const totalMs = (times: CpuTimes) => Object.values(times).reduce((sum, ms) => sum + ms, 0)

/** `itsm 0.812, gateway 0.401, …`, largest first; each divided by `per`. */
export function breakdown(times: CpuTimes, per: number): string {
  return Object.entries(times)
    .sort(([, a], [, b]) => b - a)
    .map(([name, ms]) => `${name} ${(ms / per).toFixed(2)}`)
    .join(', ')
}

/** Share of a core that all parts use while the platform receives no requests, in percent. */
export async function cpuAtRest(
  cluster: Cluster,
  seconds: number,
): Promise<{ percent: number; parts: string }> {
  const before = cpuTimes(cluster)
  await delay(seconds * 1_000)
  const cpu = cpuSince(before, cpuTimes(cluster))
  return { percent: totalMs(cpu) / (seconds * 10), parts: breakdown(cpu, seconds * 10) }
}

interface ProcessTimes {
  parent: number
  ownMs: number
  /** CPU time of child processes that have ended. */
  endedMs: number
}

/** CPU time of one process without its children; 0 if it has ended. */
export function ownMs(pid: number): number {
  return timesOf(pid)?.ownMs ?? 0
}

/** CPU time of a process and its children, including those that have ended. */
function familyMs(pid: number, children: ReadonlyMap<number, number>): number {
  const parent = timesOf(pid)
  return (parent ? parent.ownMs + parent.endedMs : 0) + (children.get(pid) ?? 0)
}

/** CPU time of the running children of these processes, by parent. */
function childrenMs(parents: readonly number[]): Map<number, number> {
  const sums = new Map(parents.map((pid) => [pid, 0]))
  for (const entry of readdirSync('/proc')) {
    const parent = /^\d+$/.test(entry) ? statOf(Number(entry))?.parent : undefined
    const sum = parent === undefined ? undefined : sums.get(parent)
    if (parent === undefined || sum === undefined) continue
    const { ownMs = 0, endedMs = 0 } = timesOf(Number(entry)) ?? {}
    sums.set(parent, sum + ownMs + endedMs)
  }
  return sums
}

/** `undefined` if the process has ended meanwhile. */
function timesOf(pid: number): ProcessTimes | undefined {
  const times = statOf(pid)
  // Only the process table includes threads that have ended.
  return times && { ...times, ownMs: Math.max(times.ownMs, threadsMs(pid)) }
}

/** CPU time of the running threads, with nanosecond resolution; 0 if the kernel does not record it. */
function threadsMs(pid: number): number {
  try {
    const onProcessor = (thread: string) =>
      Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0])
    return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + onProcessor(thread), 0) / nsPerMs
  } catch {
    return 0
  }
}

/** Figures from the process table. */
function statOf(pid: number): ProcessTimes | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    const ms = (user: number) => (Number(fields[user]) + Number(fields[user + 1])) * msPerTick
    return { parent: Number(fields[1]), ownMs: ms(11), endedMs: ms(13) }
  } catch {
    return undefined
  }
}
