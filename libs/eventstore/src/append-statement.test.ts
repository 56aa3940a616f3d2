import { describe, expect, test } from '@jest/globals'
import { appendParameters, appendStatement, shapeOf } from './append-statement.js'
import type { Commit, RowWrite } from './commit.js'

const row = (table: string, id: string, state: string | null): RowWrite => ({
  table,
  id,
  workspaceId: 'ws_1',
  environment: 'production',
  version: 1,
  state,
})
const commit = (...rows: RowWrite[]): Commit => ({ events: [], heads: [], rows })

describe('the append statement', () => {
  test('depends only on which tables are written and deleted from', () => {
    const left = shapeOf(commit(row('b', '1', '{}'), row('a', '1', '{}'), row('a', '2', '{}')))
    const right = shapeOf(commit(row('a', '3', '{}'), row('b', '4', '{}')))
    expect(left).toEqual(right)
    expect(appendStatement(left)).toBe(appendStatement(right))
    expect(shapeOf(commit(row('a', '1', null))).key).not.toBe(shapeOf(commit(row('a', '1', '{}'))).key)
  })

  test('has one parameter for each column of each table it writes', () => {
    const commits = [
      commit(row('a', '1', '{}'), row('b', '2', null)),
      commit(row('a', '3', '{"x":1}'), row('b', '4', null)),
    ]
    const shape = shapeOf(commit(row('a', '1', '{}'), row('b', '2', null)))
    const numbers = [...appendStatement(shape).matchAll(/\$(\d+)/g)].map((match) => Number(match[1]))
    const parameters = appendParameters(shape, commits)
    expect(numbers).toEqual(parameters.map((_, index) => index + 1))
    expect(parameters.slice(-8)).toEqual([
      ['1', '3'],
      ['ws_1', 'ws_1'],
      ['production', 'production'],
      [1, 1],
      ['{}', '{"x":1}'],
      ['2', '4'],
      ['ws_1', 'ws_1'],
      ['production', 'production'],
    ])
  })

  test('asks for what is relied on before it writes, and has parameters for that as well', () => {
    const relied = (table: string, id: string) => ({
      ...{ table, id, workspaceId: 'ws_1', environment: 'production' },
      fields: '{"status":"open"}',
    })
    const relying = { ...commit(row('a', '1', '{}')), relied: [relied('b', '2'), relied('c', '3')] }
    const shape = shapeOf(relying)
    expect(shape.key).not.toBe(shapeOf(commit(row('a', '1', '{}'))).key)
    const statement = appendStatement(shape)
    const parameters = appendParameters(shape, [relying])
    const numbers = [...statement.matchAll(/\$(\d+)/g)].map((match) => Number(match[1]))
    expect(numbers).toEqual(parameters.map((_, index) => index + 1))
    expect(parameters.slice(4, 8)).toEqual([['3'], ['ws_1'], ['production'], ['{"status":"open"}']])
    expect(statement.indexOf('held_1 as')).toBeLessThan(statement.indexOf('insert into'))
  })

  test('quotes table names', () => {
    expect(appendStatement(shapeOf(commit(row('odd"name', '1', '{}'))))).toContain('insert into "odd""name"')
  })
})
