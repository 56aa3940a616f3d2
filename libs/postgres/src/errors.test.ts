import { describe, expect, test } from '@jest/globals'
import { ApiError } from '@opsplane/contracts'
import {
  answerToPostgresError,
  databaseFault,
  isDatabaseUnavailable,
  isDependencyUnavailable,
  isTransient,
} from './errors.js'

const error = (code: string) => Object.assign(new Error(code), { code })

describe('a Postgres error', () => {
  test.each([
    ['too many connections', '53300', 'has no connection left'],
    ['cannot connect now', '57P03', 'is starting or stopping'],
    ['ended by an administrator, as in a failover', '57P01', 'is starting or stopping'],
    ['read-only, as after a failover', '25006', 'is read-only'],
    ['a pooler without a server', '08P01', 'cannot be reached'],
    ['a wrong password', '28P01', 'refuses the login of this service'],
    ['the disk is full', '53100', 'has no disk space left'],
    ['no memory', '53200', 'has no memory left'],
    ['no route', 'EHOSTUNREACH', 'cannot be reached'],
  ])('%s: the database is unavailable, and the answer names the cause', (_what, code, fault) => {
    expect(databaseFault(error(code))).toContain(fault)
    expect(String(answerToPostgresError(error(code)))).toContain(fault)
    expect(isDatabaseUnavailable(error(code))).toBe(true)
    // As drizzle wraps errors.
    expect(isDependencyUnavailable(new Error('Failed query', { cause: error(code) }))).toBe(true)
    expect(isTransient(error(code))).toBe(false)
  })

  test.each([
    ['a cancelled statement', '57014'],
    ['a lock that was not to be had', '55P03'],
    ['a deadlock', '40P01'],
    ['a serialization failure', '40001'],
  ])('%s: the failure is transient, and can be retried', (_what, code) => {
    expect(isTransient(error(code))).toBe(true)
    expect(isDatabaseUnavailable(error(code))).toBe(false)
    const answer = answerToPostgresError(error(code))
    expect(answer instanceof ApiError && [answer.code, answer.retryable]).toEqual([
      'service_unavailable',
      true,
    ])
  })

  test.each([
    ['a violated constraint', '23505'],
    ['a wrong statement', '42601'],
  ])('%s: the statement itself is at fault', (_what, code) => {
    expect(isDatabaseUnavailable(error(code))).toBe(false)
    expect(isTransient(error(code))).toBe(false)
  })
})
