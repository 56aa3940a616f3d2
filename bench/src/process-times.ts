import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Cluster } from '@opsplane/local'

/** CPU time so far, user and system, in milliseconds, by part of the platform. */
export type CpuTimes = Record<string, number>

const msPerTick = 10
const nsPerMs = 1e6

/**
 * What each part has spent since its processes began, from the scheduler's figures of each thread (Linux), or where those are
 * not to be had from the process table, in steps of 10 ms: the services, the children that evaluate
 * expressions or run artifacts for them (`workflows children`), Postgres with all its backends, and NATS; those that have ended
 * included. Of all figures the one that a busy machine changes least.
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

/** `itsm 0.812, gateway 0.401, …`, the largest first; each divided by `per`. */
export function breakdown(times: CpuTimes, per: number): string {
  return Object.entries(times)
    .sort(([, a], [, b]) => b - a)
    .map(([name, ms]) => `${name} ${(ms / per).toFixed(2)}`)
    .join(', ')
}

/** What all parts take of a core while nothing is asked of them for so long, in percent. */
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
  /** Of its children that have ended. */
  endedMs: number
}

/** Of one process, its children not included; nothing for one that has ended. */
export function ownMs(pid: number): number {
  return timesOf(pid)?.ownMs ?? 0
}

/** A process, its children and those that have ended. */
function familyMs(pid: number, children: ReadonlyMap<number, number>): number {
  const parent = timesOf(pid)
  return (parent ? parent.ownMs + parent.endedMs : 0) + (children.get(pid) ?? 0)
}

/** What the children of these that run have spent, by their parent. */
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

/** Undefined for a process that has ended meanwhile. */
function timesOf(pid: number): ProcessTimes | undefined {
  const times = statOf(pid)
  // Threads that have ended are in the process table alone.
  return times && { ...times, ownMs: Math.max(times.ownMs, threadsMs(pid)) }
}

/** The time on a processor of the threads that run, to the nanosecond; 0 where the kernel does not count that. */
function threadsMs(pid: number): number {
  try {
    const onProcessor = (thread: string) =>
      Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0])
    return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + onProcessor(thread), 0) / nsPerMs
  } catch {
    return 0
  }
}

/** What the process table says. */
function statOf(pid: number): ProcessTimes | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    const ms = (user: number) => (Number(fields[user]) + Number(fields[user + 1])) * msPerTick
    return { parent: Number(fields[1]), ownMs: ms(11), endedMs: ms(13) }
  } catch {
    return undefined
  }
}
