import { describe, expect, test } from '@jest/globals'
import { jsonArray } from '@opsplane/postgres'
import { appendParameters, appendStatement, commitShape } from './append-statement.js'
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

const statementOf = (shape: ReturnType<typeof commitShape>) =>
  appendStatement(shape, { uniques: new Map(), waits: false })
const numbersIn = (statement: string) =>
  [...statement.matchAll(/\$(\d+)/g)].map((match) => Number(match[1])).sort((left, right) => left - right)

describe('the append statement', () => {
  test('depends only on which tables it writes to and deletes from', () => {
    const left = commitShape(commit(row('b', '1', '{}'), row('a', '1', '{}'), row('a', '2', '{}')))
    const right = commitShape(commit(row('a', '3', '{}'), row('b', '4', '{}')))
    expect(left).toEqual(right)
    expect(statementOf(left)).toBe(statementOf(right))
    expect(commitShape(commit(row('a', '1', null))).key).not.toBe(
      commitShape(commit(row('a', '1', '{}'))).key,
    )
  })

  test('has one parameter for each column of each table it writes, and one for the commit number', () => {
    const commits = [
      commit(row('a', '1', '{}'), row('b', '2', null)),
      commit(row('a', '3', '{"x":1}'), row('b', '4', null)),
    ]
    const shape = commitShape(commit(row('a', '1', '{}'), row('b', '2', null)))
    const parameters = appendParameters(shape, commits)
    expect(numbersIn(statementOf(shape))).toEqual(parameters.map((_, index) => index + 1))
    expect(parameters.slice(8, 18)).toEqual([
      ['0', '1'],
      ['1', '3'],
      ['ws_1', 'ws_1'],
      ['production', 'production'],
      [1, 1],
      jsonArray(['{}', '{"x":1}']),
      ['0', '1'],
      ['2', '4'],
      ['ws_1', 'ws_1'],
      ['production', 'production'],
    ])
  })

  test('checks read dependencies before it writes, and has parameters for them', () => {
    const dependency = (table: string, id: string) => ({
      ...{ table, id, workspaceId: 'ws_1', environment: 'production' },
      fields: '{"status":"open"}',
    })
    const relying = {
      ...commit(row('a', '1', '{}')),
      dependencies: [dependency('b', '2'), dependency('c', '3')],
    }
    const shape = commitShape(relying)
    expect(shape.key).not.toBe(commitShape(commit(row('a', '1', '{}'))).key)
    const statement = statementOf(shape)
    const parameters = appendParameters(shape, [relying])
    expect(numbersIn(statement)).toEqual(parameters.map((_, index) => index + 1))
    expect(parameters.slice(14, 24)).toEqual(
      ['2', '3'].flatMap((id) => [['0'], [id], ['ws_1'], ['production'], ['{"status":"open"}']]),
    )
    expect(statement.indexOf('dependency_1_locked as')).toBeLessThan(statement.indexOf('insert into'))
  })

  test('quotes table names', () => {
    expect(statementOf(commitShape(commit(row('odd"name', '1', '{}'))))).toContain('insert into "odd""name"')
  })
})
