import { parseExact, stringifyExact } from '@opsplane/contracts'
import { request } from 'undici'
import { joinPlatform, type SharedPlatform } from '../shared/platform.js'
import { columns, depots } from './columns.js'

/** Calls the API with bodies whose numbers keep all their digits, and parses responses without loss of digits. */
function exactClient(info: { baseUrl: string; apiKey: string; workspace: string }) {
  return async <T = unknown>(
    method: 'GET' | 'POST' | 'PATCH' | 'PUT',
    path: string,
    body?: unknown,
    type = 'application/json',
  ) => {
    const sent = type === 'application/json' ? stringifyExact(body) : String(body)
    const answer = await request(path.startsWith('http') ? path : `${info.baseUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${info.apiKey}`,
        'x-workspace': info.workspace,
        ...(body !== undefined && { 'content-type': type }),
      },
      ...(body !== undefined && { body: sent }),
    })
    const text = await answer.body.text()
    const isJson = String(answer.headers['content-type']).startsWith('application/json')
    const json = (isJson ? parseExact(text) : undefined) as { data: T; error?: { message: string } }
    return { status: answer.statusCode, text, json }
  }
}

/** A workspace on the platform of the run, and the calls that the tests of values make in it. */
export async function joinWithExactClient() {
  const platform: SharedPlatform = await joinPlatform()
  const api = exactClient(platform.info)
  /** Resource created by a request. Throws if the request is rejected. */
  async function made<T = { id: string }>(path: string, body: unknown): Promise<T> {
    const { status, json, text } = await api<T>('POST', path, body)
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`)
    return json.data
  }
  return {
    platform,
    api,
    made,
    /** Creates the table `values`, and the one that it refers to. */
    async makeTables() {
      const { records, ...table } = depots
      await made('/tables', table)
      await made(`/tables/${depots.slug}/records/bulk`, { records })
      await made('/tables', { slug: 'values', columns })
    },
    /** Deploys an app that shows records of the table and has a form for new ones. */
    async deployApp() {
      const app = await made('/apps', { slug: 'values', name: 'Values' })
      const operations = ['list', 'create']
      const writable = columns.map(({ name }) => name)
      const binding = { kind: 'table', table: 'values', operations, writable, limit: 200 }
      await made(`/apps/${app.id}/data-sources`, { name: 'values', binding })
      await made(`/apps/${app.id}/pages`, {
        ...{ slug: 'all', title: 'All' },
        components: [{ type: 'table', label: 'Values', source: 'values', columns: [{ field: 'tag' }] }],
      })
      await made(`/apps/${app.id}/deploy`, { note: 'First' })
    },
    /** URL of the app's data or actions, as requested by the browser. */
    appPath: (kind: 'data' | 'actions') => {
      const { baseUrl, workspace } = platform.info
      return `${new URL(baseUrl).origin}/apps/${workspace}/values/-/${kind}`
    },
    /** Records of the table `values`. */
    found: async (filter: object) => {
      const path = `/tables/values/records?limit=200&filter=${encodeURIComponent(stringifyExact(filter))}`
      return (await api<(Record<string, unknown> & { id: string; createdAt: string })[]>('GET', path)).json
        .data
    },
  }
}
export type ExactClient = Awaited<ReturnType<typeof joinWithExactClient>>
