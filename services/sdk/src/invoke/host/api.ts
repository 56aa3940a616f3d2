import type { CallOperation } from '@opsplane/http'
import { HostError } from '@opsplane/sandbox'
import { z } from 'zod'
import type { HostFunction } from './host-call.js'
import { platformCaller } from './platform-caller.js'
import { findTouchedRecords } from './touched-records.js'

const Call = z.strictObject({
  operation: z.string().max(100),
  params: z.record(z.string(), z.unknown()).default({}),
  query: z.record(z.string(), z.unknown()).default({}),
  body: z.unknown().optional(),
})

/** Calls any operation the artifact has declared. Returns `{ status, data, pagination? }`. */
export const apiFunction =
  (callOperation: CallOperation): HostFunction =>
  async (context, argument) => {
    const { operation, ...input } = Call.parse(argument)
    if (!context.artifact.permissions.api.includes(operation))
      throw new HostError('not_permitted', `The artifact has not declared the operation ${operation}.`)
    const answer = await callOperation(platformCaller(context), operation, input)
    for (const record of findTouchedRecords(input.params, answer.data)) context.touch(record)
    // Parsed from JSON.
    return answer as never
  }
