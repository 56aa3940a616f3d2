import { monitorEventLoopDelay } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import type { Source } from './sample.js'

/** Interval of event loop samples. Each wakes an idle process, and reveals whatever blocks the loop at that time. */
const eventLoopSampleMs = 500

/**
 * Resource usage of the process, from values Node counts anyway. The event loop lag is the
 * delay of the samples since the last scrape.
 */
export function processSource(): Source {
  const startedAt = (Date.now() - performance.now()) / 1_000
  const intervals = monitorEventLoopDelay({ resolution: eventLoopSampleMs })
  intervals.enable()
  return () => {
    const { user, system } = process.cpuUsage()
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics()
    const lagMs = Math.max(intervals.percentile(99) / 1e6 - eventLoopSampleMs, 0)
    intervals.reset()
    return [
      { name: 'process_cpu_seconds_total', value: (user + system) / 1e6 },
      { name: 'process_resident_memory_bytes', value: process.memoryUsage.rss() },
      { name: 'process_start_time_seconds', value: startedAt },
      { name: 'nodejs_heap_size_used_bytes', value: used },
      { name: 'nodejs_heap_size_limit_bytes', value: limit },
      { name: 'nodejs_eventloop_lag_p99_seconds', value: lagMs / 1_000 },
    ]
  }
}
