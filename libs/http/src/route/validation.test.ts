import { expect, test } from '@jest/globals'
import type { ErrorDetail } from '@opsplane/contracts'
import { z } from 'zod'
import { parsePart, validationFailed } from './validation.js'

const body = z.strictObject({ title: z.string() })

test.each([
  [100, 'The request is not valid in 100 places.'],
  [101, 'The request is not valid in more than 100 places.'],
  [120_000, 'The request is not valid in more than 100 places.'],
])(
  'of %i problems at most 100 are reported, so that the response is no larger than the request',
  (count, message) => {
    const wrong = Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 1]))
    const details: ErrorDetail[] = []
    parsePart(body, { title: 'fine', ...wrong }, 'body', details)
    // A further part does not increase their number.
    parsePart(body, { title: 'fine', ...wrong }, 'query', count === 100 ? [] : details)
    const error = validationFailed(details)
    expect(error.message).toBe(message)
    expect(error.details.map(({ path }) => path)).toEqual(Array.from({ length: 100 }, (_, n) => `/k${n}`))
  },
)

test('a missing value is reported as required, whatever its type', () => {
  const schema = z.object({
    kind: z.enum(['a', 'b']),
    target: z.union([z.string(), z.int()]),
    step: z.discriminatedUnion('type', [z.object({ type: z.literal('wait') })]),
    name: z.string(),
  })
  const details: ErrorDetail[] = []
  parsePart(schema, { step: {} }, 'body', details)
  expect(details).toEqual(
    ['/kind', '/target', '/step/type', '/name'].map((path) => ({
      in: 'body',
      path,
      code: 'required',
      message: 'is required',
    })),
  )
})

test('problems have the messages of the platform and reveal no patterns', () => {
  const details: ErrorDetail[] = []
  const schema = z.object({ limit: z.int().max(200), at: z.iso.datetime({ offset: true }) })
  parsePart(schema, { limit: 1_000, at: '2030-01-01' }, 'query', details)
  expect(details.map(({ path, message, params }) => [path, message, params])).toEqual([
    ['/limit', 'must be at most 200', { origin: 'number', maximum: 200, inclusive: true }],
    [
      '/at',
      'must be a date and time with a zone, such as 2026-03-02T10:00:00Z',
      { origin: 'string', format: 'datetime' },
    ],
  ])
})
