import { expect, test } from '@jest/globals'
import { z } from 'zod'
import { ExactNumber, inexactNumber } from '../json/exact-json.js'
import { idSchema } from './ids.js'
import { issueMessage } from './issue-message.js'

const messages = (schema: z.ZodType, value: unknown) =>
  schema.safeParse(value, { error: issueMessage }).error?.issues.map(({ message }) => message)

const tooExact = new ExactNumber('9007199254740993')

test.each<[z.ZodType, unknown, string]>([
  [z.string(), 7, 'must be a string'],
  [z.int(), 1.5, 'must be a whole number'],
  [z.coerce.number(), 'many', 'must be a number'],
  [z.array(z.string()), {}, 'must be a list'],
  [z.number(), tooExact, inexactNumber],
  [z.int().min(3), tooExact, inexactNumber],
  [z.union([z.string(), z.number()]), tooExact, inexactNumber],
  [z.string(), tooExact, 'must be a string'],
  [z.strictObject({}), [], 'must be an object'],
  [z.enum(['high', 'low']), 'huge', 'must be one of "high", "low"'],
  [z.literal('only'), 'other', 'must be "only"'],
  [z.int().min(0), -3, 'must be at least 0'],
  [z.int().max(200), 1_000, 'must be at most 200'],
  [z.number().gt(0), 0, 'must be more than 0'],
  [z.number().lt(1), 1, 'must be less than 1'],
  [z.number().multipleOf(5), 7, 'must be a multiple of 5'],
  [z.string().min(1), '', 'must not be empty'],
  [z.string().min(12), 'short', 'must have at least 12 characters'],
  [z.string().max(1), 'ab', 'must have at most 1 character'],
  [z.string().length(2), 'abc', 'must have exactly 2 characters'],
  [z.array(z.int()).max(2), [1, 2, 3], 'must have at most 2 items'],
  [
    z.iso.datetime({ offset: true }),
    '2030-01-01',
    'must be a date and time with a zone, such as 2026-03-02T10:00:00Z',
  ],
  [z.iso.date(), 'tomorrow', 'must be a date, such as 2026-03-02'],
  [z.email(), 'ada', 'must be an e-mail address'],
  [z.string().startsWith('ops_'), 'x', 'must start with "ops_"'],
  [z.string().regex(/^[0-9a-f]{64}$/), 'x', 'has not the form the API reference describes'],
  [idSchema('user'), 'x', 'must be an id of the form usr_<ULID>'],
  [z.union([z.string(), z.int(), z.null()]), true, 'must be a string, a number or null'],
  [z.record(z.string().max(2), z.int()), { long: 1 }, 'must have at most 2 characters'],
  [
    z.discriminatedUnion('kind', [z.object({ kind: z.literal('a') }), z.object({ kind: z.literal('b') })]),
    { kind: 'c' },
    'must be one of "a", "b"',
  ],
])('issue messages describe the expected value (%#)', (schema, value, message) => {
  expect(messages(schema, value)).toEqual([message])
})
