import { readFileSync } from 'node:fs'
import { createContext, runInContext } from 'node:vm'
import { beforeEach, expect, test } from '@jest/globals'
import { waitFor } from '@opsplane/testing'

const script = readFileSync(new URL('../docs-page/docs.js', import.meta.url), 'utf8')

interface Description {
  paths: Record<string, Record<string, { parameters: { schema: object; description?: string }[] }>>
  components: { parameters: { Workspace: { required: boolean; description: string } } }
}

const description = {
  paths: {
    '/incidents': {
      get: {
        parameters: [
          { $ref: '#/components/parameters/Workspace' },
          { name: 'tag', in: 'query', schema: { type: 'string', example: 'shop' } },
          { name: 'status', in: 'query', description: 'Several.', schema: { example: ['open', 'closed'] } },
          { name: 'limit', in: 'query', schema: { default: 50 } },
          { name: 'id', in: 'path', required: true, schema: { example: 'INC-1' } },
        ],
      },
      post: { operationId: 'create' },
    },
  },
  components: { parameters: { Workspace: { name: 'X-Workspace', in: 'header', required: true } } },
}

interface SwaggerOptions {
  spec: Description
  requestInterceptor: typeof intercept
  persistAuthorization: boolean
}

let swagger: SwaggerOptions | undefined
let shown: Description | undefined
let intercept: (request: { headers: Record<string, string> }) => { headers: Record<string, string> }
let stored: Map<string, string>
let workspace: { value: string; change(): void }

/** What a browser gives the script, as far as it asks for it. */
beforeEach(() => {
  shown = undefined
  stored = new Map([['opsplane-docs-workspace', 'acme']])
  const listeners: Record<string, () => void> = {}
  workspace = { value: '', change: () => listeners.change?.() }
  const input = Object.assign(workspace, {
    addEventListener: (type: string, listener: () => void) => {
      listeners[type] = listener
    },
  })
  const SwaggerUIBundle = (options: SwaggerOptions) => {
    swagger = options
    shown = structuredClone(options.spec)
    intercept = options.requestInterceptor
  }
  const page = createContext({
    window: { SwaggerUIBundle },
    document: { getElementById: () => input },
    localStorage: {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, value: string) => stored.set(key, value),
      removeItem: (key: string) => stored.delete(key),
    },
    fetch: async () => ({ json: async () => structuredClone(description) }),
  })
  runInContext(script, page)
})

test('filters are not filled in with their examples, which find nothing together', async () => {
  const spec = await waitFor(() => shown)
  const [, tag, status, limit, id] = spec?.paths['/incidents']?.get?.parameters ?? []
  expect(tag).toMatchObject({ schema: { type: 'string' }, description: 'Such as `shop`.' })
  expect(tag?.schema).not.toHaveProperty('example')
  expect(status).toMatchObject({ schema: {}, description: 'Several. Such as `open,closed`.' })
  expect(limit).toEqual({ name: 'limit', in: 'query', schema: { default: 50 } })
  expect(id?.schema).toEqual({ example: 'INC-1' })
})

test('the workspace at the top is that of every request that names none, at once', async () => {
  const spec = await waitFor(() => shown)
  expect(spec?.components.parameters.Workspace).toMatchObject({
    required: false,
    description: expect.stringContaining('top of this page'),
  })
  const sent = (headers: Record<string, string> = {}) => intercept({ headers }).headers
  expect(sent({ accept: '*/*' })).toEqual({ accept: '*/*', 'X-Workspace': 'acme' })
  expect(sent({ 'X-Workspace': 'own' })).toEqual({ 'X-Workspace': 'own' })
  workspace.value = ' other '
  workspace.change()
  expect(sent()).toEqual({ 'X-Workspace': 'other' })
  expect(stored.get('opsplane-docs-workspace')).toBe('other')
  workspace.value = ''
  expect(sent()).toEqual({})
})

test('no token stays with the browser once the page is closed', async () => {
  await waitFor(() => shown)
  expect(swagger?.persistAuthorization).toBe(false)
  expect(stored.has('authorized')).toBe(false)
})
