import { execFileSync } from 'node:child_process'
import { expect, test } from '@jest/globals'

/**
 * Number of full collections V8 performs while many temporarily retained objects become garbage, in a separate
 * process.
 */
function collections(prepare: string): number {
  const program = `
    import { PerformanceObserver, constants } from 'node:perf_hooks'
    import { configureHeapGrowth, limitHeapGrowth } from ${JSON.stringify(new URL('heap-growth.js', import.meta.url).href)}
    let full = 0
    const seen = (entries) => { for (const { detail } of entries) if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) full++ }
    const observer = new PerformanceObserver((list) => seen(list.getEntries()))
    observer.observe({ entryTypes: ['gc'] })
    const kept = Array.from({ length: 200_000 }, (_, n) => ({ n }))
    ${prepare}
    const window = []
    for (let turn = 0; turn < 1_500; turn++) {
      window[turn % 20] = Array.from({ length: 5_000 }, (_, n) => ({ turn, n, text: 'row ' + n }))
      await new Promise(setImmediate)
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
    seen(observer.takeRecords())
    console.log(full, kept.length)`
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  return Number(output.split(' ')[0])
}

/**
 * The measurement depends on V8 and takes ten seconds of CPU: it runs only with TEST_HEAP, which `npm run
 * test:long` sets.
 */
const isMeasured = process.env.TEST_HEAP !== undefined
const heapTest = isMeasured ? test : test.skip
const limited = isMeasured ? collections('configureHeapGrowth(); limitHeapGrowth(20)') : 0

heapTest('a limited heap is collected more often, and as usual after the limit is released', () => {
  expect(limited).toBeGreaterThan(2 * collections('configureHeapGrowth()'))
  expect(limited).toBeGreaterThan(1.5 * collections('configureHeapGrowth(); limitHeapGrowth(20)()'))
})

heapTest('the tightest of several limits applies until it is released', () => {
  expect(collections('configureHeapGrowth(); limitHeapGrowth(20); limitHeapGrowth(100)')).toBeGreaterThan(
    0.8 * limited,
  )
  const released = collections(
    'configureHeapGrowth(); const release = limitHeapGrowth(20); limitHeapGrowth(100); release()',
  )
  expect(limited).toBeGreaterThan(1.3 * released)
})

heapTest('objects are allocated in the young generation, also where earlier objects survived', () => {
  expect(examinedSites('configureHeapGrowth()')).toBe(0)
  // V8's default behaviour, as a control for the assertion above.
  expect(examinedSites('')).toBeGreaterThan(0)
})

/** How often V8 examines allocation sites for pretenuring while many objects are retained for a while. */
function examinedSites(prepare: string): number {
  const program = `
    import { configureHeapGrowth } from ${JSON.stringify(new URL('heap-growth.js', import.meta.url).href)}
    ${prepare}
    const make = (n) => ({ n, texts: [n, n, n, n] })
    const kept = []
    for (let turn = 0; turn < 60; turn++) {
      kept.push(Array.from({ length: 20_000 }, (_, n) => make(n)))
      if (kept.length > 10) kept.shift()
      await new Promise(setImmediate)
    }`
  const flags = ['--trace-pretenuring-statistics', '--input-type=module', '-e', program]
  const trace = execFileSync(process.execPath, flags, { encoding: 'utf8' })
  return trace.match(/active_sites=[1-9]/g)?.length ?? 0
}
