import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Slice } from './loop-delays.js'

const resolutionMs = 10
const none: Slice = { cpuMs: 0, wallMs: 0 }

// Loaded into each service by NODE_OPTIONS. Costs nothing until the first signal; each signal writes the longest
// turn of the event loop since the previous signal to a file. With more busy processes than cores a turn lasts
// longer than its computation, because the kernel runs other processes meanwhile: the CPU time is the part of the
// delay that the process itself causes.
const { LOOP_DELAYS: folder } = process.env
let longest: Slice | undefined

/** CPU time of the main thread in ms on Linux; elsewhere of all threads, including those that compress and hash. */
const mainThreadCpuMs: () => number = existsSync('/proc/self/schedstat')
  ? () => Number.parseInt(readFileSync('/proc/self/schedstat', 'latin1'), 10) / 1e6
  : () => {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1e3
    }

function watch() {
  let last = { wallMs: performance.now(), cpuMs: mainThreadCpuMs() }
  setInterval(() => {
    const now = { wallMs: performance.now(), cpuMs: mainThreadCpuMs() }
    const late = now.wallMs - last.wallMs - resolutionMs
    // The CPU time includes work done before the timer was due, so it is limited to the delay.
    const cpuMs = Math.min(late, now.cpuMs - last.cpuMs)
    longest = {
      cpuMs: Math.max(longest?.cpuMs ?? 0, cpuMs),
      wallMs: Math.max(longest?.wallMs ?? 0, late),
    }
    last = { wallMs: performance.now(), cpuMs: mainThreadCpuMs() }
  }, resolutionMs).unref()
}

if (folder !== undefined)
  process.on('SIGUSR2', () => {
    if (longest === undefined) watch()
    const file = join(folder, String(process.pid))
    writeFileSync(`${file}.new`, JSON.stringify(longest ?? none))
    longest = none
    renameSync(`${file}.new`, file)
  })
