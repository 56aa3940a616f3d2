import type { ConnectorStep } from '@opsplane/contracts'
import type { CallPlatform } from '@opsplane/http'
import { z } from 'zod'
import { type Effect, platformCaller } from './effect.js'

const Answer = z.object({ data: z.object({ output: z.unknown() }).loose() })

/** Invokes an action of a connector and returns its result. */
export const connectorEffect =
  (callPlatform: CallPlatform): Effect<ConnectorStep> =>
  async (call) => {
    const { connector, action } = call.step
    const { body } = await callPlatform(platformCaller(call), {
      service: 'integrations',
      method: 'POST',
      path: `/connectors/${connector}/invoke`,
      body: { action, input: call.input ?? {} },
    })
    return Answer.parse(body).data.output ?? null
  }
