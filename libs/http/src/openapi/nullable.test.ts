import { expect, test } from '@jest/globals'
import { z } from 'zod'
import { defineRoute } from '../index.js'
import { openApiDocument } from './openapi.js'

const Shade = z.object({ hex: z.string() }).meta({ id: 'NullableTestShade' })
const Mood = z.enum(['warm', 'cold']).meta({ id: 'NullableTestMood' })
const Either = z.union([Shade, z.string()]).meta({ id: 'NullableTestEither' })

const answering = (operationId: string, response: z.ZodObject) =>
  defineRoute({
    ...{
      operationId,
      method: 'get',
      path: `/${operationId}`,
      summary: 'x',
      tag: 'x',
      scope: 'public',
      response,
    },
    handler: async () => ({}),
  })

const nullable = answering(
  'nullable',
  z.object({
    shade: Shade.nullable(),
    mood: Mood.nullable(),
    either: Either.nullable(),
    late: Shade.nullish(),
  }),
)
const plain = answering(
  'plain',
  z.object({ shade: Shade, mood: Mood, either: Either, late: Shade.optional() }),
)

const orNull = (name: string) => ({
  anyOf: [{ $ref: `#/components/schemas/${name}` }, { type: 'null' }],
})

test.each([
  ['first', [nullable, plain]],
  ['last', [plain, nullable]],
])(
  'a named schema allows null only where it is used as nullable: nullable use comes %s',
  async (_, routes) => {
    const { components = {} } = await openApiDocument('test', routes)
    const schemas = components.schemas as Record<string, object>
    expect(schemas.NullableTestShade).toMatchObject({ type: 'object' })
    expect(schemas.NullableTestMood).toEqual({ type: 'string', enum: ['warm', 'cold'] })
    expect(schemas.NullableTestEither).toEqual({
      anyOf: [{ $ref: '#/components/schemas/NullableTestShade' }, { type: 'string' }],
    })
    expect(schemas.NullableEnvelope).toMatchObject({
      properties: {
        data: {
          properties: {
            shade: orNull('NullableTestShade'),
            mood: orNull('NullableTestMood'),
            either: orNull('NullableTestEither'),
            late: orNull('NullableTestShade'),
          },
        },
      },
    })
    const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
    expect(schemas.PlainEnvelope).toMatchObject({
      properties: {
        data: {
          properties: {
            shade: ref('NullableTestShade'),
            mood: ref('NullableTestMood'),
            late: ref('NullableTestShade'),
          },
        },
      },
    })
  },
)
