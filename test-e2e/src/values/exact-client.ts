import { parseExact, stringifyExact } from '@opsplane/contracts'
import { request } from 'undici'
import { joinPlatform, type SharedPlatform } from '../shared/platform.js'

/** Calls the API with bodies whose numbers keep all their digits, and reads answers so. */
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

/** A workspace on the platform of the run, and the calls that the tests of numbers make in it. */
export async function joinExactly() {
  const platform: SharedPlatform = await joinPlatform()
  const api = exactClient(platform.info)
  return {
    platform,
    api,
    /** What a request has made. Throws where it is refused. */
    async made<T = { id: string }>(path: string, body: unknown): Promise<T> {
      const { status, json, text } = await api<T>('POST', path, body)
      if (status >= 300) throw new Error(`${path}: ${status} ${text}`)
      return json.data
    },
    /** Records of the table `values`. */
    found: async (filter: object) => {
      const path = `/tables/values/records?limit=200&filter=${encodeURIComponent(stringifyExact(filter))}`
      return (await api<(Record<string, unknown> & { id: string; createdAt: string })[]>('GET', path)).json
        .data
    },
  }
}
export type Joined = Awaited<ReturnType<typeof joinExactly>>
