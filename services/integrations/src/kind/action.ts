import type { ConnectorAction } from '@opsplane/contracts'
import { parseField } from '@opsplane/http'
import { z } from 'zod'
import type { Action, ActionDefinition, Call } from './kind.js'

/** Defines an action whose input and output are zod schemas. */
export function defineAction<Config, Input extends z.ZodType, Output extends z.ZodType>(
  definition: ActionDefinition<Config, Input, Output>,
): (name: string) => Action {
  const { title, description, input, output, repeatable } = definition
  const repeats = typeof repeatable === 'function' ? 'by_input' : repeatable ? 'always' : 'never'
  // The casts are safe: the input always comes from `parse`, and the configuration from the kind.
  const run: Action['run'] = (call, parsed) => definition.run(call as Call<Config>, parsed as z.output<Input>)
  return (name) => ({
    ...{ name, title, description, repeats, run },
    input: jsonSchema(input, 'input'),
    output: jsonSchema(output, 'output'),
    parse: (value) => parseField(input, 'input', value),
    repeatable: (parsed) =>
      typeof repeatable === 'boolean' ? repeatable : repeatable(parsed as z.output<Input>),
  })
}

/** JSON Schema, draft 2020-12, of the accepted value (`input`) or of the resulting one (`output`). */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}

/** An action as the API shows it. */
export function presentAction({
  name,
  title,
  description,
  input,
  output,
  repeats: repeatable,
}: Action): ConnectorAction {
  return { name, title, description, repeatable, input, output }
}
