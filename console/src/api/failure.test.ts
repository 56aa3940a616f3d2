import { expect, test } from '@jest/globals'
import { OpsplaneError } from '@opsplane/client'
import { texts } from '../texts/en.js'
import { describeError, fieldErrors, needsSignIn } from './failure.js'

const answered = (status: number, code: string, details: object[] = [], retryable = false) =>
  new OpsplaneError(
    status,
    { error: { code, status, message: 'As it is.', retryable, details }, meta: { requestId: 'req_1' } },
    new Response(null, { status: 500 }),
  )

test.each([
  [answered(404, 'not_found'), texts.problem.missing, texts.problem.missingHelp, false],
  [answered(429, 'rate_limited', [], true), texts.problem.busy, 'As it is.', true],
  [answered(503, 'service_unavailable', [], true), texts.problem.away, texts.problem.awayHelp, true],
  [answered(422, 'validation_failed'), texts.problem.title, 'As it is.', false],
  [answered(401, 'factor_required'), texts.problem.signIn, 'As it is.', false],
  [answered(403, 'forbidden'), texts.problem.forbidden, 'As it is.', false],
  [
    answered(403, 'insufficient_scope'),
    texts.problem.forbidden,
    `As it is. ${texts.problem.askOwner}`,
    false,
  ],
])('%s is described with its cause and a remedy', (error, title, help, isPassing) => {
  expect(describeError(error)).toEqual({ title, help, isPassing, code: error.code, requestId: 'req_1' })
})

test('a failed fetch is described as an unreachable platform', () => {
  expect(describeError(new TypeError('Failed to fetch'))).toMatchObject({
    title: texts.problem.unreachable,
    isPassing: true,
  })
})

test('a validation error of a body field is assigned to the form field', () => {
  const at = (path: string, message: string) => ({ in: 'body', path, code: 'invalid_value', message })
  const error = answered(422, 'validation_failed', [
    at('/email', 'must be an e-mail address'),
    at('/retry/0', 'is too small.'),
    { ...at('/limit', 'is too big'), in: 'query' },
  ])
  expect(fieldErrors(error)).toEqual({ email: 'Must be an e-mail address.', 'retry.0': 'Is too small.' })
  expect(fieldErrors(new Error('other'))).toEqual({})
})

test.each([
  [answered(401, 'token_expired'), true],
  [answered(403, 'forbidden'), false],
  [new TypeError('Failed to fetch'), false],
])('%s requires a sign-in: %s', (error, expected) => {
  expect(needsSignIn(error)).toBe(expected)
})
