import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { type ErrorDetail, type Permission, permissions, RightsQuestion } from '@opsplane/contracts'

/** A stand-in for settings and the database studio, with one table of any length. */
export interface Neighbours {
  url: string
  /** Permissions by user id; `null`: no longer a member. All other users have every permission. */
  rights: Map<string, Permission[] | null>
  /** Ends the response after this number of records, as if the studio had crashed; 0 for never. */
  cutAfter: number
  /** Number of records in the table. */
  count: number
  /** While true, the studio does not respond. */
  stuck: boolean
  /** The studio stops responding from this record on; `null` for never. */
  stuckAt: number | null
  /** Number of exports requested from the studio. */
  asked: number
  /** Whether grants are still valid. */
  granted: boolean
  /** The error with which the studio rejects an export of records, if any. */
  refused: ErrorDetail | null
  stop(): Promise<void>
}

export const recordId = (at: number) => `rec_${String(at).padStart(9, '0')}`

export const sampleRecord = (at: number) => ({
  ...{
    id: recordId(at),
    version: 1,
    createdAt: '2026-03-02T10:00:00.000Z',
    updatedAt: '2026-03-02T10:00:00.000Z',
  },
  ...{ serial: `=A-${at}`, price: `${at}.50`, count: at, bought: '2026-01-31', extra: { at } },
})

const column = (name: string, type: string) => ({ name, type, nullable: true, unique: false, default: null })
const table = {
  ...{ id: 'tbl_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', slug: 'assets', name: 'Assets', description: '', version: 1 },
  columns: [
    { ...column('serial', 'text'), maxLength: null },
    { ...column('price', 'decimal'), precision: 12, scale: 2 },
    column('count', 'integer'),
    column('bought', 'date'),
    column('extra', 'json'),
  ],
  ...{ indexes: [], uniques: [], checks: [], rules: [], purgeAt: null },
  ...{ createdAt: '2026-03-02T10:00:00.000Z', updatedAt: '2026-03-02T10:00:00.000Z' },
}

export async function startNeighbours(): Promise<Neighbours> {
  const server = createServer((request, response) => void answer(request, response))
  const fake: Neighbours = {
    ...{
      url: '',
      rights: new Map(),
      cutAfter: 0,
      count: 3_000,
      stuck: false,
      stuckAt: null,
      asked: 0,
      granted: true,
      refused: null,
    },
    async stop() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
  let grants = 0
  const send = (response: ServerResponse, status: number, body: object) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ...body, meta: { requestId: 'request-1' } }))
  }
  const refuse = (response: ServerResponse, code: string, status: number, details: ErrorDetail[] = []) =>
    send(response, status, { error: { code, status, message: `${code}.`, retryable: false, details } })

  async function answer(request: IncomingMessage, response: ServerResponse) {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://studio')
    if (pathname === '/tables/assets') return send(response, 200, { data: table })
    if (pathname === '/tables/assets/records/export') return sendRecords(searchParams, response)
    if (pathname === '/internal/grants')
      return send(response, 200, { data: { grant: `grant-${++grants}`, expiresAt: null } })
    if (pathname === '/internal/delegations')
      return fake.granted
        ? send(response, 200, { data: { token: 'token-1' } })
        : refuse(response, 'invalid_token', 401)
    if (pathname !== '/internal/rights') return refuse(response, 'not_found', 404)
    const { userIds } = RightsQuestion.parse(await json(request))
    const known = userIds.map((id) => [id, fake.rights.has(id) ? fake.rights.get(id) : permissions] as const)
    const held = Object.fromEntries(known.filter(([, some]) => some !== null))
    return send(response, 200, { data: { permissions: held } })
  }

  /** Sends records in id order, after the id in the filter, respecting backpressure. */
  async function sendRecords(query: URLSearchParams, response: ServerResponse) {
    fake.asked++
    if (fake.refused) return refuse(response, 'validation_failed', 422, [fake.refused])
    const { id } = JSON.parse(query.get('filter') ?? '{}') as { id?: { gt: string } }
    const fields = query.get('fields')?.split(',') ?? []
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    const begin = id === undefined ? 0 : Number(id.gt.slice(4)) + 1
    const lines = Readable.from(linesFrom(begin, fields), { highWaterMark: 16 })
    await pipeline(lines, response).catch(() => {})
  }

  async function* linesFrom(begin: number, fields: readonly string[]) {
    for (let at = begin; at < fake.count; at++) {
      if (fake.cutAfter > 0 && at - begin >= fake.cutAfter) throw new Error('cut')
      const record: Record<string, unknown> = sampleRecord(at)
      yield `${JSON.stringify(Object.fromEntries(fields.map((name) => [name, record[name]])))}\n`
      const isStuck = () => fake.stuck || (fake.stuckAt !== null && at >= fake.stuckAt)
      while (isStuck()) await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  fake.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return fake
}
