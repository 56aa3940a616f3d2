import { expect, test } from '@jest/globals'
import { minConnections, poolSizes } from './pool-sizes.js'

test('divides any number of connections exactly among the pools, with at least one for each', () => {
  for (let connections = minConnections; connections <= 1_000; connections++) {
    const sizes = Object.values(poolSizes(connections))
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(connections)
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(1)
  }
})

test.each([0, 2, 3.5, Number.NaN])('rejects %s connections', (connections) => {
  expect(() => poolSizes(connections)).toThrow(RangeError)
})
