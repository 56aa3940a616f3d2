import { expect, test } from '@jest/globals'
import { attemptErrorKinds } from '@opsplane/contracts'
import { texts } from '../../texts/en.js'
import { describeCause, remedyFor } from './causes.js'

const outcome = (kind: (typeof attemptErrorKinds)[number], lastResponseStatus: number | null = null) => ({
  lastError: { kind, message: 'It says.' },
  lastResponseStatus,
})

test.each(attemptErrorKinds)('the error kind %s has a description and a remedy', (kind) => {
  expect(describeCause(outcome(kind))).toMatch(/^[A-Z]/)
  expect(remedyFor(outcome(kind))).toMatch(/\.$/)
})

test.each([
  [500, texts.remedies.server],
  [503, texts.remedies.server],
  [401, texts.remedies.unauthorized],
  [404, texts.remedies.gone],
  [410, texts.remedies.gone],
  [302, texts.remedies.status],
  [422, texts.remedies.status],
])('a response with status %d has a description and a remedy', (status, remedy) => {
  expect(describeCause(outcome('status', status))).toBe(`Answered ${status}`)
  expect(remedyFor(outcome('status', status))).toBe(remedy)
})
