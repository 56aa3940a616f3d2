import { expect } from '@jest/globals'
import { waitFor } from '@opsplane/testing'
import { request } from 'undici'
import { type Api, apiClient } from '../platform.js'
import type { ReplicatedPlatform } from './platform.js'

/** A client of the API for each gateway. */
export const createApis = ({ gateways, info }: ReplicatedPlatform): Api[] =>
  gateways.map((origin) => apiClient({ ...info, baseUrl: `${origin}/api/v1` }))

/**
 * Number of unauthenticated requests, one each `spacingMs`, that a gateway answers with 401 until the limit is
 * reached.
 */
export async function countUnauthenticated(origin: string | undefined, spacingMs: number): Promise<number> {
  let through = 0
  const isLimited = async () => {
    const { statusCode, body } = await request(`${origin}/api/v1/itsm/incidents`)
    await body.dump()
    if (statusCode === 401) through++
    return statusCode === 429
  }
  await waitFor(isLimited, { intervalMs: spacingMs })
  return through
}

interface Created {
  data: { id: string }
  error?: { code: string }
}

/**
 * Sends the same create through all gateways concurrently, repeated until each has been answered 201; resolves with
 * the ids.
 */
export async function createOnce(apis: readonly Api[], key: string): Promise<Set<string>> {
  const create = (api: Api) =>
    waitFor(async () => {
      const headers = { 'idempotency-key': key }
      const answer = await api<Created>('POST', '/itsm/incidents', { body: { title: key }, headers })
      if (answer.status === 201) return answer.body.data.id
      expect(answer.body.error?.code).toBe('idempotency_in_progress')
      return undefined
    })
  return new Set(await Promise.all([...apis, ...apis, ...apis].map(create)))
}
