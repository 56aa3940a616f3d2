import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { eventExample, eventTypes, natsNames, TopicMessage } from '@opsplane/contracts'
import { isLongTier } from '@opsplane/testing'
import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import { type AsyncApiDocument, asyncApiDocument } from './asyncapi.js'
import { busExample } from './messages.js'

let document: AsyncApiDocument
beforeAll(async () => {
  document = await asyncApiDocument(natsNames('acme'))
})
const at = (pointer: string): unknown =>
  pointer
    .split('/')
    .slice(1)
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document)

describe('the AsyncAPI document', () => {
  let ajv: Ajv
  beforeAll(() => {
    ajv = new Ajv({ allErrors: true, strict: false, code: { optimize: false } })
    formats.default(ajv)
    // Added once: if passed with each reference, the whole document would be parsed each time.
    ajv.addSchema({ $id: 'document', components: document.components })
  })

  test('is valid AsyncAPI 3.0', () => {
    const file = createRequire(import.meta.url).resolve('@asyncapi/specs/schemas/3.0.0-without-$id.json')
    const validate = ajv.compile(JSON.parse(readFileSync(file, 'utf8')))
    validate(document)
    expect(validate.errors ?? []).toEqual([])
    expect(validate({ ...document, channels: { x: { address: 7 } } })).toBe(false)
  })

  test('has no unresolved references', () => {
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#([^"]+)"/g)].map(
      ([, pointer = '']) => pointer,
    )
    expect(refs.length).toBeGreaterThan(eventTypes.length)
    expect(refs.filter((pointer) => at(pointer) === undefined)).toEqual([])
  })

  test('has the subjects of this installation, and a message for every declared event', () => {
    expect(at('/channels/incident.created/address')).toBe(
      'acme.evt.{workspaceId}.{environment}.incident.created',
    )
    expect(at('/channels/topic/address')).toBe('acme.bus.{workspaceId}.{environment}.{topic}')
    expect(Object.keys(at('/components/messages') as object)).toEqual([...eventTypes, 'BusMessage'])
    expect(Object.keys(at('/operations') as object)).toHaveLength(eventTypes.length + 1)
  })

  // The schemas themselves are tested with the catalogue. Every third type is enough to test that references resolve.
  const tried = eventTypes.filter((_, at) => isLongTier() || at % 3 === 0)
  test.each(tried)(
    'has a payload schema of %s that accepts an event with all references resolved',
    (type) => {
      const validate = ajv.compile({ $ref: `document#/components/schemas/${type}` })
      validate(eventExample(type))
      expect(validate.errors ?? []).toEqual([])
      expect(validate({ ...eventExample(type), version: 0 })).toBe(false)
    },
  )

  test('has a valid example of a topic message', () => {
    expect(TopicMessage.parse(busExample)).toEqual(busExample)
  })
})
