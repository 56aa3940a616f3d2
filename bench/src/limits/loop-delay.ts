import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { resolutionMs } from './loop-delays.js'

// Loaded into each service by NODE_OPTIONS. It costs nothing until the first signal, and each one writes down the longest time
// since the one before for which nothing else of the process had its turn.
const { LOOP_DELAYS: folder } = process.env
let intervals: IntervalHistogram | undefined

if (folder !== undefined)
  process.on('SIGUSR2', () => {
    const longestMs = intervals === undefined ? 0 : Math.max(0, intervals.max / 1e6 - resolutionMs)
    intervals?.reset()
    intervals ??= monitorEventLoopDelay({ resolution: resolutionMs })
    intervals.enable()
    const file = join(folder, String(process.pid))
    writeFileSync(`${file}.new`, String(longestMs))
    renameSync(`${file}.new`, file)
  })
