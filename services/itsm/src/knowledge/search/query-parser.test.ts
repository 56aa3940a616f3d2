import { expect, it } from '@jest/globals'
import { parseQuery } from './query-parser.js'

it.each([
  ['printer jam', 'printer jam', []],
  ['printer -jam', 'printer', ['jam']],
  ['-jam', '', ['jam']],
  ['printer -"paper jam" tray', 'printer   tray', ['paper jam']],
  ['printer (-jam), -toner', 'printer ( ),', ['jam', 'toner']],
  ['printer,-jam', 'printer,', ['jam']],
  ['"npm -force" -yarn', '"npm  force"', ['yarn']],
  ['npm --force ---x', 'npm  force  x', []],
  ['ERR-4711 -ERR-4712X e-mail', 'ERR-4711   e-mail', ['ERR-4712X']],
  ['-über - -', '', ['über']],
  ['"open -end', '"open  end', []],
  ['-"', '"', []],
])('parses %j into the query %j and the exclusions %j', (query, wanted, excluded) => {
  expect(parseQuery(query)).toEqual({ wanted, excluded })
})
