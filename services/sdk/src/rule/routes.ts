import { ValidationAnswer, ValidationQuestion } from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import type { Validate } from './validations.js'

/** The request contains up to two images of each record, of at most 16 MiB in total, and their names. */
const bodyLimitBytes = 20 * 1_024 * 1_024

/** Route called by the database studio before it writes records. Not exposed by the gateway. */
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
