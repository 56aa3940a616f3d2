import type { Readable } from 'node:stream'
import { browserSignIn, originPrefix, permissions } from '@opsplane/contracts'
import { type Receiver, waitFor } from '@opsplane/testing'
import { request } from 'undici'
import { typedClient } from '../platform.js'
import { prepareAnalytics } from './analytics.js'
import { prepareApps } from './apps.js'
import { prepareDesk } from './desk.js'
import { exampleBody, listOperations, type OpenApi, type Operation, toServicePath } from './document.js'
import type { Answer, Fields, Info, Sent } from './exchange.js'
import { password, preparePeople } from './people.js'
import { preparePacks } from './sdk.js'
import { file, prepareStudio } from './studio.js'
import { prepareWorkflows } from './workflows.js'

/** First chunk of a body that has no end. */
async function beginningOf(body: Readable): Promise<string> {
  for await (const chunk of body) return String(chunk)
  return ''
}

/** Paths of the resources that `removeMade` deletes. */
export const removedPaths = /^\/(webhooks|itsm\/sla-policies)/

interface InEnvironment {
  header: { 'X-Environment': 'production' | 'staging' | 'development' }
}

/** Existing resources to use in requests, and disposable credentials. */
export type FuzzResources = Awaited<ReturnType<typeof createFuzzResources>>

export async function createFuzzResources(document: OpenApi, info: Info, receiver: Receiver) {
  const owner = typedClient(info)
  const operations = listOperations(document)
  const statuses: Record<number, number> = {}
  let count = 0
  /** Kinds of created resources that `removeMade` deletes. */
  const made = new Set<string>()
  /** Ids that `removeMade` keeps. */
  const kept = new Set<string>()

  const send = async ({ method, target, text, headers }: Sent): Promise<Answer> => {
    const sentRequestId = `fuzz-${String(count++).padStart(8, '0')}`
    // A separate address for each request, because failed sign-ins delay an address.
    const address = `10.${(count >> 16) & 255}.${(count >> 8) & 255}.${count & 255}`
    // Sent as by a page of the console: browsers may not sign in from elsewhere.
    const own = { 'x-request-id': sentRequestId, 'x-forwarded-for': address, 'sec-fetch-site': 'same-origin' }
    const allHeaders = { 'x-workspace': info.workspace, ...own, ...headers }
    const present = Object.entries(allHeaders).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    )
    const url = target.startsWith(`${originPrefix}/`)
      ? `${info.origin}${target.slice(originPrefix.length)}`
      : `${info.baseUrl}${target}`
    const response = await request(url, {
      method: method as 'GET',
      headers: Object.fromEntries(present),
      ...(text === undefined ? {} : { body: text }),
    })
    const kind = removedPaths.exec(target)?.[0]
    if (method === 'POST' && response.statusCode === 201 && kind !== undefined) made.add(kind)
    const contentType = String(response.headers['content-type'] ?? '')
    const answer = await (contentType.startsWith('text/event-stream')
      ? beginningOf(response.body)
      : response.body.text())
    statuses[response.statusCode] = (statuses[response.statusCode] ?? 0) + 1
    return {
      status: response.statusCode,
      contentType,
      text: answer,
      json: contentType.startsWith('application/json') && answer !== '' ? JSON.parse(answer) : undefined,
      sentRequestId,
      requestId: response.headers['x-request-id'],
      headers: response.headers,
    }
  }

  const asOwner = async (method: string, target: string, body?: unknown): Promise<Fields> => {
    const headers = {
      authorization: `Bearer ${info.apiKey}`,
      'content-type': body ? 'application/json' : undefined,
    }
    const answer = await send({ method, target, headers, text: body ? JSON.stringify(body) : undefined })
    if (answer.status >= 300) throw new Error(`${method} ${target} answers ${answer.status}: ${answer.text}`)
    return answer.json as Fields
  }

  const key = async (scopes: readonly (typeof permissions)[number][] = permissions) =>
    String(
      (await owner.post('/auth/tokens', { body: { name: `key ${count++}`, scopes: [...scopes] } })).data
        .token,
    )
  const shared = await key()
  // Referenced by the example of a connector.
  await owner.post('/secrets', { body: { name: 'billing_token', value: 'a token' } })
  const people = await preparePeople(info, send)
  /** A second admin, because authors cannot approve their own articles. */
  const writer = typedClient({ ...info, apiKey: (await people.newcomer('admin')).session })
  // It can be accepted once.
  const invitation = (await people.invite()).invitation?.token ?? ''
  const delivered = await deliveredWebhook()
  kept.add(delivered.id)

  /** A credential for one call of the operation. */
  const credential = async ({ id }: Operation): Promise<string> =>
    (await people.personalCredential(id)) ?? (id === 'rotateToken' ? await key() : shared)

  /** A webhook with two failed deliveries and a replay, and one whose deactivation the admins were notified of. */
  async function deliveredWebhook() {
    const create = (path: string) =>
      owner.post('/webhooks', {
        body: { name: path, url: `${receiver.url}/${path}`, events: ['incident.created'], retries: 0 },
      })
    const [webhook] = [await create('flaky'), await create('gone')]
    for (const title of ['first', 'second']) await owner.post('/itsm/incidents', { body: { title } })
    const path = { id: webhook.data.id }
    const params = { path, query: { status: ['failed' as const] } }
    const [first, second] = await waitFor(
      async () => {
        const { data } = await owner.get('/webhooks/{id}/deliveries', { params })
        return data[0] && data[1] ? ([data[0], data[1]] as const) : undefined
      },
      { intervalMs: 100 },
    )
    await waitFor(async () => (await owner.get('/notifications')).data[0], {
      intervalMs: 100,
    })
    const body = { eventType: 'incident.created', status: 'succeeded' as const }
    const replay = await owner.post('/webhooks/{id}/deliveries/replay', { params: { path }, body })
    return {
      toRetry: { id: path.id, deliveryId: first.id },
      id: path.id,
      deliveryId: second.id,
      eventId: second.eventId,
      replayId: replay.data.job?.id ?? '',
    }
  }

  const removals: Record<string, (params: InEnvironment) => Promise<void>> = {
    async '/webhooks'(params) {
      for await (const { id } of owner.items('/webhooks', { params }))
        if (!kept.has(id)) await owner.delete('/webhooks/{id}', { params: { ...params, path: { id } } })
    },
    async '/itsm/sla-policies'(params) {
      for await (const { id } of owner.items('/itsm/sla-policies', { params }))
        if (!kept.has(id))
          await owner.delete('/itsm/sla-policies/{id}', { params: { ...params, path: { id } } })
    },
  }

  /**
   * Deletes created resources of the kind that an operation is about: every webhook and SLA policy multiplies the work
   * for each event, and a run creates many of all.
   */
  async function removeMade({ path }: Operation) {
    const kind = removedPaths.exec(path)?.[0] ?? ''
    if (!made.delete(kind)) return
    for (const environment of ['production', 'staging', 'development'] as const)
      await removals[kind]?.({ header: { 'X-Environment': environment } })
  }

  /** Cursors of lists with more than one page, and altered copies of them. */
  async function realCursors(): Promise<string[]> {
    const params = { query: { limit: 1 } }
    const lists = [
      await owner.get('/itsm/incidents', { params }),
      await owner.get('/webhooks', { params }),
      await owner.get('/audit', { params }),
      await owner.get('/auth/tokens', { params }),
    ]
    const found = lists.map(({ pagination }) => pagination.nextCursor ?? '')
    return [...found, ...found.map((cursor) => cursor.slice(0, -2)), ...found.map((cursor) => `${cursor}x`)]
  }

  const item = async (status: 'planned' | 'operational' = 'operational') =>
    (await owner.post('/cmdb/items', { body: { class: 'server', name: `made ${count++}`, status } })).data.id
  const related = { sourceId: await item(), targetId: await item(), type: 'depends_on' as const }

  const upload = async (target: string) => {
    const headers = { authorization: `Bearer ${info.apiKey}`, 'content-type': 'text/csv' }
    const { status, json, text } = await send({ method: 'POST', target, headers, text: file })
    if (status !== 202) throw new Error(`POST ${target} answers ${status}: ${text}`)
    return (json as { data: { id: string } }).data
  }
  const studio = await prepareStudio(owner, upload)
  const desk = await prepareDesk({ owner, writer })
  const flows = await prepareWorkflows(owner)
  const apps = await prepareApps(owner)
  const sdk = await preparePacks(owner)
  const analytics = await prepareAnalytics(owner)
  const checkpoint = (await owner.post('/audit/checkpoints')).data

  /** A connector to the receiver of this test. */
  const connected = async () => {
    const config = { baseUrl: `${receiver.url}/ok` }
    const body = { name: `connected ${count++}`, kind: 'http', config }
    return { id: (await owner.post('/connectors', { body })).data.id }
  }

  /** Path values for operations to which neither the example's nor the list's resource is applicable. */
  const prepared: Record<string, () => Promise<Record<string, string>>> = {
    '/webhooks/{id}/deliveries/{deliveryId}/retry': async () => delivered.toRetry,
    '/webhooks/{id}/deliveries/{deliveryId}': async () => ({
      id: delivered.id,
      deliveryId: delivered.deliveryId,
    }),
    '/webhooks/{id}/replays/{replayId}': async () => ({ id: delivered.id, replayId: delivered.replayId }),
    '/events/{id}/deliveries': async () => ({ id: delivered.eventId }),
    '/resolve/{id}': async () => ({ id: delivered.eventId }),
    '/events/topics/{name}': async () => ({ name: 'fuzz.topic' }),
    '/connectors/{id}/invocations/{invocationId}': async () => {
      const path = await connected()
      const { data } = await owner.post('/connectors/{id}/invoke', {
        params: { path },
        body: { action: 'get' },
      })
      return { ...path, invocationId: data.invocationId }
    },
    '/connectors/{id}/': connected,
    '/cmdb/items/{id}/fail': async () => ({ id: await item() }),
    '/cmdb/items/{id}/repair': async () => ({ id: await item() }),
    '/cmdb/relations/{id}': async () => {
      const body = { sourceId: await item(), targetId: await item(), type: 'runs_on' as const }
      return { id: (await owner.post('/cmdb/relations', { body })).data.id }
    },
    '/knowledge/{id}/publish': async () => {
      const path = await desk.prepared['/knowledge/{id}/schedule']()
      await asOwner('POST', `/knowledge/${path.id}/schedule`, { publishAt: '2099-01-01T00:00:00Z' })
      return path
    },
    ...people.prepared,
    // The list contains the keys that all requests here use.
    '/settings/tokens/{id}': async () => {
      const body = { name: `to revoke ${count++}`, scopes: ['itsm:read' as const] }
      return { id: (await owner.post('/auth/tokens', { body })).data.id }
    },
    '/settings/users/{id}': async () => ({ id: (await people.invite()).id }),
    '/workspaces/{slug}': async () => ({ slug: info.workspace }),
    ...desk.prepared,
    ...studio.prepared,
    ...flows.prepared,
    ...apps.prepared,
    ...sdk.prepared,
    ...analytics.prepared,
  }

  /** The body of an operation's example, adapted to this platform and its state. */
  const goodBody = (operation: Operation): unknown => {
    const credentials = { email: info.email, password: info.password }
    if (operation.id === 'createSession' || operation.id === browserSignIn) return credentials
    const example = exampleBody(document, operation)
    if (typeof example !== 'object' || example === null) return example
    const body: Fields = { ...example, ...desk.named[operation.id] }
    if (operation.id === 'changePassword') return { ...body, currentPassword: password }
    if (operation.id === 'removeAccountFactors') return { email: people.email }
    if (operation.id === 'createAccountResetLink') return { email: people.email }
    if (operation.id === 'verifyAuditAgainstCheckpoint') return { checkpoint }
    if (operation.id === 'createCiRelation') return related
    if (operation.id === 'getImpact') return { itemIds: [related.sourceId] }
    if (operation.id === 'acceptInvitation') body.token = invitation
    for (const name of ['name', 'slug', 'key']) {
      if (typeof body[name] === 'string') body[name] = `${body[name]}${count++}`
    }
    // Slugs of workspaces are unique on the platform.
    if (operation.id === 'createWorkspace') body.slug = `${info.workspace}-${count++}`
    if (typeof body.email === 'string') body.email = `fuzz${count++}@${info.workspace}.example.com`
    if (typeof body.url === 'string') body.url = `${receiver.url}/ok`
    return body
  }

  const preparationFor = (operation: Operation): string | undefined =>
    Object.keys(prepared)
      .filter((template) => toServicePath(operation).startsWith(template))
      .sort((a, b) => b.length - a.length)[0]

  /** Path values that exist: prepared ones, else those of a new resource, else the first of the list. */
  const pathValues = async (operation: Operation): Promise<Record<string, string>> => {
    const before = preparationFor(operation)
    let values = before === undefined ? {} : ((await prepared[before]?.()) ?? {})
    for (const [whole, name = ''] of operation.path.matchAll(/\{(\w+)\}/g)) {
      if (values[name] !== undefined) continue
      const collection = operation.path.slice(0, operation.path.indexOf(`/${whole}`))
      values = { ...values, [name]: await oneOf(collection, name, values) }
    }
    return values
  }

  const keep = async (values: Promise<Record<string, string>>) => {
    kept.add((await values).id ?? '')
    return values
  }
  /** The same values for all operations on one resource: for requests that are rejected, or only read. */
  const sharedPathValues = () => {
    const byResource = new Map<string, Promise<Record<string, string>>>()
    return (operation: Operation): Promise<Record<string, string>> => {
      const resource = operation.path.slice(0, operation.path.lastIndexOf('}') + 1)
      const key = `${preparationFor(operation) ?? ''} ${resource}`
      const values = byResource.get(key) ?? keep(pathValues(operation))
      byResource.set(key, values)
      return values
    }
  }

  const oneOf = async (collection: string, name: string, values: Record<string, string>): Promise<string> => {
    const target = fillPath(collection, values)
    const find = (method: string) =>
      operations.find((each) => each.path === collection && each.method === method)
    const creation = find('POST')
    const listing = find('GET')
    let item: Fields | undefined
    if (creation?.body) item = (await asOwner('POST', target, goodBody(creation))).data as Fields
    else if (listing) item = ((await asOwner('GET', target)).data as Fields[])[0]
    return String(item?.[name] ?? item?.id ?? 'absent')
  }

  const cursors = await realCursors()
  return {
    /** The body of every upload. */
    file,
    removeMade,
    send,
    statuses,
    cursors,
    key,
    credential,
    goodBody,
    pathValues,
    sharedPathValues,
    owner,
    requests: () => count,
  }
}

export function fillPath(path: string, values: Record<string, string>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeText(values[name] ?? 'absent'))
}

/** Lone surrogates have no valid encoding: they are sent as a careless client writes them. */
export function encodeText(text: string): string {
  return /\p{Surrogate}/u.test(text) ? '%ED%A0%80' : encodeURIComponent(text)
}

/** A query string; an array becomes a repeated parameter. */
export function encodeQuery(query: Fields): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one) => `${encodeText(name)}=${encodeText(String(one))}`),
  )
  return pairs.length > 0 ? `?${pairs.join('&')}` : ''
}
