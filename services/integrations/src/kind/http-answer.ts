import { answerBody, type OutboundResponse } from '@opsplane/http'
import { z } from 'zod'

/** An HTTP response as the result of an action. */
export const HttpOutput = z.object({
  status: z.int(),
  headers: z.record(z.string(), z.string()),
  body: z.unknown().meta({
    description:
      'Body of the response: parsed JSON, text decoded by its charset, anything else in base64; `null` if there is ' +
      'none.',
  }),
  encoding: z.enum(['json', 'text', 'base64', 'none']),
  truncated: z.boolean().meta({ description: 'Whether the body is longer than the part that was read.' }),
})
export type HttpOutput = z.output<typeof HttpOutput>

export function toOutput(answer: OutboundResponse): HttpOutput {
  const { status, headers, truncated } = answer
  return { status, headers, ...answerBody(answer), truncated }
}
