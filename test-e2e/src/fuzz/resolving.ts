import { expect, test } from '@jest/globals'
import { ResolvedReference, readableKinds } from '@opsplane/contracts'
import { z } from 'zod'
import type { TestCluster } from '../platform.js'
import type { Operation } from './document.js'
import type { World } from './world.js'

/** Types of resources in the audit log whose ids are none of the platform's own, or those of logins. */
const unresolved = ['account', 'article_vote', 'login']

/** Behind operations of all kinds, whose resources the audit log names. */
export function resolvingTests(
  get: () => { cluster: TestCluster; operations: Operation[]; world: World },
): void {
  const read = async (target: string) => {
    const { apiKey, workspace } = get().cluster.info
    const headers = { authorization: `Bearer ${apiKey}`, 'x-workspace': workspace }
    return get().world.send({ method: 'GET', target, headers })
  }

  /** Two ids of each type that were there at their last event. */
  const foundIds = async () => {
    const ids = new Map<string, Set<string>>()
    const seen = new Set<string>()
    const params = { query: { limit: 200 } }
    for await (const { resource, data } of get().world.owner.items('/audit', { params })) {
      const isNewest = !seen.has(resource.id)
      seen.add(resource.id)
      const found = ids.get(resource.type) ?? new Set()
      ids.set(resource.type, found)
      if (isNewest && data.after !== null && found.size < 2) found.add(resource.id)
    }
    return [...ids].flatMap(([type, found]) => [...found].map((id) => ({ type, id })))
  }

  test('what the audit log is about is resolved, and can be read where that says', async () => {
    const problems: string[] = []
    for (const { type, id } of await foundIds()) {
      if (unresolved.includes(type)) continue
      const { status, json, text } = await read(`/resolve/${id}`)
      const { data } = z.object({ data: ResolvedReference }).safeParse(json).data ?? {}
      if (data?.type !== type) problems.push(`${type} ${id}: ${status} ${text}`)
      if (data?.href == null) continue
      const answer = await read(data.href)
      if (answer.status !== 200) problems.push(`${data.href}: ${answer.status} ${answer.text}`)
    }
    expect(problems).toEqual([])
  })

  test('every path by which ids are resolved is one that is read', () => {
    const shape = (path: string) => path.replace(/\?.*/, '').replaceAll(/\{\w+\}/g, '{}')
    const reading = get().operations.filter(({ method }) => method === 'GET')
    const known = new Set(reading.map(({ path }) => shape(path)))
    const paths = Object.values(readableKinds).flatMap((kind) => kind?.path ?? [])
    expect(paths.filter((path) => !path.startsWith('/api/') && !known.has(shape(path)))).toEqual([])
  })
}
