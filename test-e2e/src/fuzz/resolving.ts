import { expect, test } from '@jest/globals'
import { originPrefix, ResolvedReference, readableKinds } from '@opsplane/contracts'
import { isLongTier } from '@opsplane/testing'
import { z } from 'zod'
import type { TestCluster } from '../platform.js'
import { listAllOperations, type OpenApi, toServicePath } from './document.js'
import type { FuzzResources } from './resources.js'

/** Number of ids tried for each type. */
const perType = isLongTier() ? 2 : 1

/** Resource types in the audit log whose ids are not in the platform's format, or belong to logins. */
const unresolved = ['account', 'article_vote', 'dead_letter', 'login']

const eventless = [
  { path: '/deliveries', type: 'delivery' },
  { path: '/runs', type: 'run' },
  { path: `${originPrefix}/api/service-sdk/executions`, type: 'execution' },
]
const numbered = [
  { path: '/itsm/incidents', type: 'incident' },
  { path: '/itsm/problems', type: 'problem' },
  { path: '/itsm/changes', type: 'change' },
  { path: '/catalog/requests', type: 'catalog_request' },
  { path: '/knowledge', type: 'article' },
]
const List = z.object({ data: z.array(z.object({ id: z.string(), number: z.string().optional() })) })

const placeOf = (href: string) => (href.startsWith('/api/') ? `${originPrefix}${href}` : href)

/** Runs after operations of all kinds, whose resources are in the audit log. */
export function resolvingTests(
  get: () => { cluster: TestCluster; document: OpenApi; world: FuzzResources },
): void {
  const read = async (target: string) => {
    const { apiKey, workspace } = get().cluster.info
    const headers = { authorization: `Bearer ${apiKey}`, 'x-workspace': workspace }
    return get().world.send({ method: 'GET', target, headers })
  }

  /** An id of each type whose last event is not its deletion; a second one in the long tier. */
  const foundIds = async () => {
    const ids = new Map<string, Set<string>>()
    const seen = new Set<string>()
    const params = { query: { limit: 200 } }
    for await (const { resource, data } of get().world.owner.items('/audit', { params })) {
      const isNewest = !seen.has(resource.id)
      seen.add(resource.id)
      const found = ids.get(resource.type) ?? new Set()
      ids.set(resource.type, found)
      if (isNewest && data.after !== null && found.size < perType) found.add(resource.id)
    }
    return [...ids].flatMap(([type, found]) => [...found].map((id) => ({ type, id })))
  }

  /** Problems of resolving an id and of reading the returned link. */
  const problemsOf = async ({ type, reference, id }: { type: string; reference: string; id: string }) => {
    const { status, json, text } = await read(`/resolve/${reference}`)
    const { data } = z.object({ data: ResolvedReference }).safeParse(json).data ?? {}
    if (data?.type !== type || data.id !== id) return [`${type} ${reference}: ${status} ${text}`]
    if (data.href === null) return []
    const answer = await read(placeOf(data.href))
    return answer.status === 200 ? [] : [`${data.href}: ${answer.status} ${answer.text}`]
  }

  test('ids in the audit log are resolved to their resource, at an address that can be read', async () => {
    const problems: string[] = []
    for (const { type, id } of await foundIds())
      if (!unresolved.includes(type))
        problems.push(
          ...(await problemsOf({
            type: type.replace(/^(sdk|workflow)_(?=run|execution)/, ''),
            reference: id,
            id,
          })),
        )
    expect(problems).toEqual([])
  })

  test('ids of deliveries, runs and executions, and numbers of records, are resolved as well', async () => {
    const problems: string[] = []
    for (const { path, type } of [...eventless, ...numbered]) {
      const list = List.safeParse((await read(`${path}?limit=1`)).json).data?.data ?? []
      for (const { id, number } of list)
        problems.push(...(await problemsOf({ type, reference: number ?? id, id })))
      if (list.length === 0) problems.push(`${path} lists nothing`)
    }
    expect(problems).toEqual([])
  })

  test('every path in resolved addresses belongs to a GET operation', () => {
    const shape = (path: string) => path.replace(/\?.*/, '').replaceAll(/\{\w+\}/g, '{}')
    const reading = listAllOperations(get().document).filter(({ method }) => method === 'GET')
    const known = new Set(reading.map((operation) => shape(toServicePath(operation))))
    const paths = Object.values(readableKinds).flatMap((kind) => kind?.path ?? [])
    expect(paths.filter((path) => !known.has(shape(placeOf(path))))).toEqual([])
  })
}
