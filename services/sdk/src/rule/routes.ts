import { ValidationAnswer, ValidationQuestion } from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import type { Validate } from './validations.js'

/** The question has two images of each record, of 16 MiB at most, and their names. */
const bodyLimitBytes = 20 * 1_024 * 1_024

/** What the database studio asks before it writes. The gateway routes none of it. */
export const ruleRoutes = (validate: Validate): Route[] => [
  defineRoute({
    method: 'post',
    tag: 'Internal',
    scope: 'service',
    idempotency: 'none',
    operationId: 'validateRecords',
    path: '/internal/rules/validate',
    callers: ['database-studio'],
    summary: 'Validate records before they are written',
    bodyLimitBytes,
    body: ValidationQuestion,
    response: ValidationAnswer,
    handler: ({ body, meta }) => validate(body, meta),
  }),
]
