import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { CatalogItem, CatalogRequest } from '@opsplane/contracts'
import type { ApiReply, SharedService } from '@opsplane/testing'
import { joinItsm } from '../joined.fixture.js'
import { createActiveItem, draft, order, team } from './catalog.fixture.js'

let service: SharedService
beforeAll(async () => {
  service = await joinItsm()
})
afterAll(() => service?.stop())

const text = { type: 'string' }
const formSchema = {
  type: 'object',
  properties: {
    costCentre: { type: 'string', pattern: '^[A-Z]{2}-\\d{4}$' },
    lines: { type: 'array', items: { $ref: '#/$defs/line' }, minItems: 1, uniqueItems: true },
    card: text,
    invoiceTo: text,
    vatId: text,
  },
  required: ['costCentre', 'lines'],
  oneOf: [{ required: ['card'] }, { required: ['invoiceTo'] }],
  dependentRequired: { invoiceTo: ['vatId'] },
  $defs: {
    line: {
      type: 'object',
      properties: { sku: text, quantity: { type: 'integer', minimum: 1, maximum: 100, default: 1 } },
      required: ['sku'],
    },
  },
}
const places = (reply: ApiReply) =>
  reply.error().details.map(({ path, code, params }) => [path, code, params?.schemaPath])

describe('a form with patterns, order lines and choices', () => {
  it('accepts valid data, and rejects invalid data with paths into both the data and the form schema', async () => {
    const members = team(service)
    const item = await createActiveItem(members, { formSchema })
    const { api } = members.ada
    const formData = {
      costCentre: 'de-1',
      lines: [{ sku: 'A', quantity: 2 }, { sku: 'A' }, { quantity: 0, colour: 'red' }],
      card: '4711',
      invoiceTo: 'Ada',
    }
    const refused = await api.post('/catalog/requests', { itemId: item.id, formData })
    expect(refused.status).toBe(422)
    expect(places(refused)).toEqual([
      ['/formData/vatId', 'required', '/dependentRequired/invoiceTo/0'],
      ['/formData/costCentre', 'invalid_format', '/properties/costCentre/pattern'],
      ['/formData/lines/2/sku', 'required', '/$defs/line/required/0'],
      ['/formData/lines/2/quantity', 'too_small', '/$defs/line/properties/quantity/minimum'],
      ['/formData/lines/2/colour', 'unrecognized_key', '/$defs/line/additionalProperties'],
      ['/formData', 'invalid_union', '/oneOf'],
    ])

    const begun = await order(api, item, { draft: true, formData: { lines: [{ sku: 'A' }] } })
    const lines = [{ sku: 'A', quantity: 1 }]
    expect(begun.formData).toEqual({ lines })
    expect(places(await api.post(`/catalog/requests/${begun.id}/submit`))).toEqual([
      ['/formData/costCentre', 'required', '/required/0'],
      ['/formData', 'invalid_union', '/oneOf'],
    ])
    const complete = { costCentre: 'DE-1234', lines, card: '4711' }
    await api.patch(`/catalog/requests/${begun.id}`, { formData: complete })
    const submitted = (await api.post(`/catalog/requests/${begun.id}/submit`)).data(CatalogRequest)
    expect(submitted).toMatchObject({ status: 'fulfilling', formData: complete })
  })

  it('is stored unchanged, and rejected if it could not be enforced', async () => {
    const members = team(service)
    const { api } = members.manager
    const item = await draft(members, { formSchema })
    const path = `/catalog/items/${item.id}`
    expect((await api.get(path)).data(CatalogItem).formSchema).toEqual(formSchema)
    const looking = {
      ...formSchema,
      properties: { ...formSchema.properties, card: { ...text, pattern: '^(?!0)' } },
    }
    const circle = {
      ...formSchema,
      $defs: { line: { type: 'object', properties: { of: { $ref: '#/$defs/line' } } } },
    }
    for (const [form, place] of [
      [looking, '/formSchema/properties/card/pattern'],
      [circle, '/formSchema/$defs/line/properties/of/$ref'],
    ] as const) {
      const refused = await api.patch(path, { formSchema: form })
      expect(refused.status).toBe(422)
      expect(refused.error().details).toMatchObject([{ in: 'body', path: place, code: 'invalid_schema' }])
    }
    expect((await api.get(path)).data(CatalogItem)).toEqual(item)
  })
})
