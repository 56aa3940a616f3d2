import type { ConnectorStep } from '@opsplane/contracts'
import { z } from 'zod'
import type { Effect } from './effect.js'
import type { CallPlatform } from './platform-call.js'

const Answer = z.object({ data: z.object({ output: z.unknown() }).loose() })

/** An action of a connector: what it gives. */
export const connectorEffect =
  (callPlatform: CallPlatform): Effect<ConnectorStep> =>
  async (call) => {
    const { connector, action } = call.step
    const { body } = await callPlatform(call, {
      service: 'integrations',
      method: 'POST',
      path: `/connectors/${connector}/invoke`,
      body: { action, input: call.input ?? {} },
    })
    return Answer.parse(body).data.output ?? null
  }
