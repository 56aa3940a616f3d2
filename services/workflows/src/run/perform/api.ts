import type { ApiStep } from '@opsplane/contracts'
import { type CallOperation, OperationInput } from '@opsplane/http'
import { type Effect, platformCaller } from './effect.js'

/** Any operation of this platform by its id: `{ status, data, pagination? }`. */
export const apiEffect =
  (callOperation: CallOperation): Effect<ApiStep> =>
  (call) =>
    callOperation(platformCaller(call), call.step.operation, OperationInput.parse(call.input))
