import { execFileSync } from 'node:child_process'
import { expect, test } from '@jest/globals'

test('unreferenced statements are freed by the next collection of the young generation', () => {
  // Of about 6,000 bytes per statement, all of which the unpatched client retains until a full garbage collection.
  expect(bytesKept()).toBeLessThan(300)
})

/** Heap growth per statement in bytes, measured in a separate process without full garbage collections in between. */
function bytesKept(): number {
  const program = `
    import { collectYoungHeap, configureHeapGrowth } from '@opsplane/runtime'
    const { Query } = await import(new URL('query.js', import.meta.resolve('postgres')).href)
    configureHeapGrowth()
    const turn = async (n) => {
      const query = new Query(['select $1'], ['x'.repeat(5_000) + n], () => {}, () => {}, {})
      // One string instead of two that are to be joined, as when it is sent.
      Buffer.byteLength(query.args[0])
      await new Promise(setImmediate)
    }
    const times = async (count) => { for (let n = 0; n < count; n++) await turn(n) }
    await times(2_000)
    collectYoungHeap()
    let most = 0
    for (let round = 0; round < 12; round++) {
      const before = process.memoryUsage().heapUsed
      await times(2_000)
      collectYoungHeap()
      most = Math.max(most, (process.memoryUsage().heapUsed - before) / 2_000)
    }
    console.log(most)`
  return Number(
    // Optimized code sometimes does not retain them, so that the unpatched client could pass by chance.
    execFileSync(process.execPath, ['--no-opt', '--input-type=module', '-e', program], {
      encoding: 'utf8',
      cwd: import.meta.dirname,
    }),
  )
}
