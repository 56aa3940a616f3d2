import type { ApiStep } from '@opsplane/contracts'
import { type CallPlatform, createCallOperation, OperationInput, type Operations } from '@opsplane/http'
import { withConcealedValues } from './concealed-values.js'
import { type Effect, platformCaller } from './effect.js'

/** Calls any operation of the platform by its id. Returns `{ status, data, pagination? }`. */
export const apiEffect =
  (operations: Operations, callPlatform: CallPlatform): Effect<ApiStep> =>
  (call) => {
    const callOperation = createCallOperation(operations, withConcealedValues(callPlatform, call))
    return callOperation(platformCaller(call), call.step.operation, OperationInput.parse(call.input))
  }
