import { expect, test } from '@jest/globals'
import type { ErrorDetail } from '@opsplane/contracts'
import { z } from 'zod'
import { parsePart, validationFailed } from './validation.js'

const body = z.strictObject({ title: z.string() })

test.each([
  [100, 'The request is not valid in 100 places.'],
  [101, 'The request is not valid in more than 100 places.'],
  [120_000, 'The request is not valid in more than 100 places.'],
])('of %i problems no more than 100 are told: the answer is no larger than the request', (count, message) => {
  const wrong = Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 1]))
  const details: ErrorDetail[] = []
  parsePart(body, { title: 'fine', ...wrong }, 'body', details)
  // A further part does not make them more.
  parsePart(body, { title: 'fine', ...wrong }, 'query', count === 100 ? [] : details)
  const error = validationFailed(details)
  expect(error.message).toBe(message)
  expect(error.details.map(({ path }) => path)).toEqual(Array.from({ length: 100 }, (_, n) => `/k${n}`))
})
