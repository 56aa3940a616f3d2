import { describe, expect, test } from '@jest/globals'

interface Operation {
  operationId: string
  tags: string[]
  parameters?: { schema?: object; description?: string }[]
  requestBody?: object
}
interface Description {
  info: { title: string; version: string; description?: string }
  tags: { name: string }[]
  paths: Record<string, Record<string, Operation>>
  webhooks?: object
  components: { parameters: { Workspace: { required: boolean; description: string } }; schemas: object }
}
interface Topics {
  makeWorkspaceOptional(description: Description): Description
  describeFilters(description: Description): Description
  listTopics(description: Description): { name: string; operations: { id: string; method: string }[] }[]
  extractTopic(description: Description, name?: string): Description
  topicInAddress(hash: string): string | undefined
}

const topics = (await import(new URL('../docs-page/topics.js', import.meta.url).href)) as Topics

const bodyOf = (name: string) => ({ content: { json: { schema: { $ref: `#/components/schemas/${name}` } } } })
const description = (): Description => ({
  info: { title: 'Opsplane', version: '1', description: '## Sign in' },
  tags: [{ name: 'Incidents' }, { name: 'Webhooks' }, { name: 'Empty' }],
  paths: {
    '/incidents': {
      get: {
        operationId: 'listIncidents',
        tags: ['Incidents'],
        parameters: [
          { $ref: '#/components/parameters/Workspace' } as object,
          { name: 'tag', in: 'query', schema: { type: 'string', example: 'shop' } } as object,
          { name: 'status', in: 'query', description: 'Several.', schema: { example: ['open', 'closed'] } },
          { name: 'limit', in: 'query', schema: { default: 50 } } as object,
          { name: 'id', in: 'path', required: true, schema: { example: 'INC-1' } } as object,
        ],
      },
      post: { operationId: 'createIncident', tags: ['Incidents'], requestBody: bodyOf('NewIncident') },
    },
    '/webhooks': {
      post: { operationId: 'createWebhook', tags: ['Webhooks'], requestBody: bodyOf('NewWebhook') },
    },
  },
  webhooks: { delivery: {} },
  components: {
    parameters: { Workspace: { required: true, description: '' } },
    schemas: {
      NewIncident: { properties: { severity: { $ref: '#/components/schemas/Severity' } } },
      Severity: { enum: ['low'] },
      NewWebhook: { properties: { next: { $ref: '#/components/schemas/NewWebhook' } } },
    },
  },
})

test('filters are not prefilled with their examples, which would match nothing together', () => {
  const { parameters = [] } = topics.describeFilters(description()).paths['/incidents']?.get ?? {}
  const [, tag, status, limit, id] = parameters
  expect(tag).toMatchObject({ schema: { type: 'string' }, description: 'Such as `shop`.' })
  expect(tag?.schema).not.toHaveProperty('example')
  expect(status).toMatchObject({ schema: {}, description: 'Several. Such as `open,closed`.' })
  expect(limit).toEqual({ name: 'limit', in: 'query', schema: { default: 50 } })
  expect(id?.schema).toEqual({ example: 'INC-1' })
})

test('an operation does not require the workspace header, which the page adds', () => {
  const { Workspace } = topics.makeWorkspaceOptional(description()).components.parameters
  expect(Workspace).toMatchObject({
    required: false,
    description: expect.stringContaining('top of this page'),
  })
})

describe('a topic', () => {
  test('is a tag with operations', () => {
    expect(topics.listTopics(description())).toMatchObject([
      { name: 'Incidents', operations: [{ id: 'listIncidents', method: 'get' }, { id: 'createIncident' }] },
      { name: 'Webhooks', operations: [{ id: 'createWebhook' }] },
    ])
  })

  test('contains its operations and the schemas they need, and no others', () => {
    const part = topics.extractTopic(description(), 'Incidents')
    expect(Object.keys(part.paths)).toEqual(['/incidents'])
    expect(Object.keys(part.components.schemas)).toEqual(['NewIncident', 'Severity'])
    expect(part.components.parameters).toHaveProperty('Workspace')
    expect([part.info, part.webhooks]).toEqual([{ title: 'Incidents', version: '1' }, undefined])
  })

  test('about webhooks contains the deliveries that an endpoint receives', () => {
    const part = topics.extractTopic(description(), 'Webhooks')
    expect([Object.keys(part.components.schemas), part.webhooks]).toEqual([['NewWebhook'], { delivery: {} }])
  })

  test('is selected by the address, and the guides are shown without one', () => {
    expect(topics.topicInAddress('#/Audit_log/listAuditEvents')).toBe('Audit log')
    expect(topics.topicInAddress('#/')).toBeUndefined()
    const guides = topics.extractTopic(description(), topics.topicInAddress(''))
    expect([guides.info.description, guides.paths]).toEqual(['## Sign in', {}])
  })
})
