import { expect, test } from '@jest/globals'
import { encode } from '@jridgewell/sourcemap-codec'
import { findSourceLine, lineTable } from './line-table.js'

const sources = ['../../../libs/a/src/a.ts', '../node_modules/p/index.js', '../src/b.ts']

test('maps each line of a bundle to the line of a source in this repository', () => {
  const mappings = encode([
    [],
    [[0, 0, 10, 0]],
    [[0, 0, 11, 0]],
    [],
    [[0, 0, 20, 4]],
    [[0, 1, 1, 0]],
    [[0, 1, 2, 0]],
    [[0, 2, 0, 0]],
  ])
  const table = lineTable({ sources, mappings })
  const [a, , b] = sources
  expect([1, 2, 3, 5, 6, 7, 8].map((line) => findSourceLine(table, line))).toEqual([
    undefined,
    { source: a, line: 11 },
    { source: a, line: 12 },
    { source: a, line: 21 },
    undefined,
    undefined,
    { source: b, line: 1 },
  ])
})

test('stores consecutive lines as one run', () => {
  const mappings = encode(Array.from({ length: 1_000 }, (_, line) => [[0, 0, line, 0]]))
  expect(lineTable({ sources, mappings }).runs).toEqual([1, 0, 1])
  expect(findSourceLine(lineTable({ sources, mappings }), 900)).toEqual({ source: sources[0], line: 900 })
})

test('finds no source line without a source map', () => {
  expect(findSourceLine({ sources: [], runs: [] }, 5)).toBeUndefined()
})
