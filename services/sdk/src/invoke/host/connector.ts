import { ConnectorNames } from '@opsplane/contracts'
import type { CallPlatform, ServiceClient } from '@opsplane/http'
import { HostError } from '@opsplane/sandbox'
import { z } from 'zod'
import type { HostContext, HostFunction } from './host-call.js'
import { platformCaller } from './platform-caller.js'

const Call = z.strictObject({
  connector: z.string().min(1).max(200),
  action: z.string().min(1).max(200),
  input: z.unknown().optional(),
})
const Answer = z.object({ data: z.object({ output: z.unknown() }).loose() })

export interface ConnectorFunctionOptions {
  callPlatform: CallPlatform
  /** Client with this service's own identity; `undefined` if integrations is not installed. */
  integrations: Pick<ServiceClient, 'post'> | undefined
}

/** Calls an action of a connector the artifact has declared by name. Returns the action's output. */
export function connectorFunction({ callPlatform, integrations }: ConnectorFunctionOptions): HostFunction {
  const idOf = async ({ tenant, traceparent, signal }: HostContext, name: string) => {
    if (!integrations) throw new HostError('service_unavailable', 'integrations is not available.')
    const question = { ...tenant, names: [name] }
    const { connectors } = await integrations.post('/internal/connectors/names', question, ConnectorNames, {
      signal,
      traceparent,
    })
    const id = connectors.find((each) => each.name === name)?.id
    if (id === undefined) throw new HostError('unknown_connector', `There is no connector ${name}.`)
    return id
  }
  return async (context, argument) => {
    const { connector, action, input } = Call.parse(argument)
    if (!context.artifact.permissions.connectors.includes(connector))
      throw new HostError('not_permitted', `The artifact has not declared the connector ${connector}.`)
    const id = await idOf(context, connector)
    context.touch({ id, table: 'connector' })
    const { body } = await callPlatform(platformCaller(context), {
      ...{ service: 'integrations', method: 'POST', path: `/connectors/${id}/invoke` },
      body: { action, input: input ?? {} },
    })
    // Parsed from JSON.
    return (Answer.parse(body).data.output ?? null) as never
  }
}
