import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Slice } from './loop-delays.js'

const resolutionMs = 10
const none: Slice = { cpuMs: 0, wallMs: 0 }

// Loaded into each service by NODE_OPTIONS. It costs nothing until the first signal; each signal writes down the longest turn of
// the event loop since the one before. With more busy processes than cores a turn lasts longer than it computes, as the kernel
// runs others meanwhile: the CPU time says what the process itself keeps its clients waiting for.
const { LOOP_DELAYS: folder } = process.env
let longest: Slice | undefined

/** The CPU time of the main thread in ms, by Linux; elsewhere of all threads, which also compress and hash meanwhile. */
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
    // What was computed in time is in it as well: never more than the turn.
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
