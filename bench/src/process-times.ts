import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Cluster } from '@opsplane/local'

/** CPU time so far, user and system, in milliseconds, by part of the platform. */
export type CpuTimes = Record<string, number>

const msPerTick = 10

/**
 * What each part has spent since its processes began, from the process table (Linux): the services, Postgres with all
 * its backends, those that have ended included, and NATS. Of all figures the one that a busy machine changes least.
 */
export function cpuTimes({ services, postgres, nats }: Cluster): CpuTimes {
  const ofServices = Object.values(services).map(({ name, pid }) => [name, ownMs(pid() ?? 0)] as const)
  return { ...Object.fromEntries(ofServices), postgres: familyMs(postgres.pid()), nats: ownMs(nats.pid()) }
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
function familyMs(pid: number): number {
  const children = readdirSync('/proc').flatMap((entry) => {
    const times = /^\d+$/.test(entry) ? timesOf(Number(entry)) : undefined
    return times?.parent === pid ? [times.ownMs + times.endedMs] : []
  })
  const parent = timesOf(pid)
  return (parent ? parent.ownMs + parent.endedMs : 0) + children.reduce((sum, ms) => sum + ms, 0)
}

/** Undefined for a process that has ended meanwhile. */
function timesOf(pid: number): ProcessTimes | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    const ms = (user: number) => (Number(fields[user]) + Number(fields[user + 1])) * msPerTick
    return { parent: Number(fields[1]), ownMs: ms(11), endedMs: ms(13) }
  } catch {
    return undefined
  }
}
