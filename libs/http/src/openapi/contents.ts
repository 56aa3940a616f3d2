import { anyMediaType } from '../route/upload.js'
import type { Schema } from './named-members.js'

export const json = 'application/json'
export const lines = 'application/x-ndjson'

/** Names the schema of one line of a body, as `itemSchema` does from OpenAPI 3.2 on. */
const itemSchema = 'x-itemSchema'

/** What is not JSON is a file to generated clients: as bytes each of them can send and receive it whole. */
const file = { type: 'string' as const, format: 'binary' }

/** Of an answer that is a file: what a file of csv may be. */
const exampleFile = 'id,name\n1,Ada\n'

/** Of an answer, but for JSON and lines of it, which the schema of the route describes. */
export const responseContent = (mediaType: string) =>
  mediaType === json ? { schema: {}, example: { name: 'Ada' } } : { schema: file, example: exampleFile }

/** Of a request whose body is read as it comes. Where it may be of any type, JSON is named too, as most send that. */
export const uploadContent = (mediaTypes: readonly string[]) =>
  Object.fromEntries(
    (mediaTypes.includes(anyMediaType) ? [json, ...mediaTypes] : mediaTypes).map((type) => [
      type,
      type === json ? { schema: anyObject, example: { name: 'Ada' } } : { schema: file },
    ]),
  )

/** Needs a type of its own: generators that choose by the media type could not distinguish it from a file. */
const anyObject = {
  type: 'object' as const,
  additionalProperties: {},
  description: 'Other JSON than an object is accepted as well.',
}

/**
 * Describes lines of JSON as a file, and adds the schema of a line: by the schema alone, generated clients would read the
 * whole body as one value. The example is of a line.
 */
export function asLines(content: Schema, exampleOf: (schema: Schema) => unknown): void {
  const schema = content.schema as Schema
  Object.assign(content, {
    schema: file,
    [itemSchema]: schema,
    example: `${JSON.stringify(exampleOf(schema))}\n`,
  })
}
