import { anyMediaType } from '../route/upload.js'
import type { Schema } from './named-members.js'

export const json = 'application/json'
export const lines = 'application/x-ndjson'

/** Schema of one line of a body, like `itemSchema` in OpenAPI 3.2 and later. */
const itemSchema = 'x-itemSchema'

/** All media types except JSON are files to generated clients: as bytes, any client can send and receive them whole. */
const file = { type: 'string' as const, format: 'binary' }

/** Example of a response that is a file: the content of a CSV file. */
const exampleFile = 'id,name\n1,Ada\n'

/** Content of responses, except for JSON and JSON lines described by the schema of the route. */
export const responseContent = (mediaType: string) =>
  mediaType === json ? { schema: {}, example: { name: 'Ada' } } : { schema: file, example: exampleFile }

/** Content of requests whose body is streamed. If any type is allowed, JSON is listed too, because most clients send it. */
export const uploadContent = (mediaTypes: readonly string[]) =>
  Object.fromEntries(
    (mediaTypes.includes(anyMediaType) ? [json, ...mediaTypes] : mediaTypes).map((type) => [
      type,
      type === json ? { schema: anyObject, example: { name: 'Ada' } } : { schema: file },
    ]),
  )

/** Needs an explicit type: generators that choose by media type could not distinguish it from a file. */
const anyObject = {
  type: 'object' as const,
  additionalProperties: {},
  description: 'JSON values other than objects are accepted as well.',
}

/**
 * Describes JSON lines as a file and adds the schema of a line: with the schema alone, generated clients would read the
 * whole body as one value. The example is one line.
 */
export function asLines(content: Schema, exampleOf: (schema: Schema) => unknown): void {
  const schema = content.schema as Schema
  Object.assign(content, {
    schema: file,
    [itemSchema]: schema,
    example: `${JSON.stringify(exampleOf(schema))}\n`,
  })
}
