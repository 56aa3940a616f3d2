import { request } from 'undici'

/** Eight columns, about 200 bytes. */
export const record = {
  ...{
    name: 'Cordless drill with two batteries',
    serial: 'A-17-000-221',
    status: 'in use',
    owner: 'ada@example.com',
  },
  ...{
    quantity: 3,
    price: '129.90',
    bought_on: '2026-03-02',
    notes: 'kept in the cupboard next to the door, second shelf',
  },
}
const text = (name: string) => ({ name, type: 'text' })
export const columns = [
  ...['name', 'serial', 'status', 'owner', 'notes'].map(text),
  { name: 'quantity', type: 'integer' },
  { name: 'price', type: 'decimal', precision: 12, scale: 2 },
  { name: 'bought_on', type: 'date' },
]
export const indexes = [
  { columns: [{ name: 'status' }, { name: 'quantity', direction: 'desc' }] },
  { columns: [{ name: 'price' }] },
]

/** Base URL and headers for requests about records. */
export interface Target {
  url: string
  /** The internal token for a service is valid for one minute. */
  headers: () => Promise<Record<string, string>>
}

/** Id of the workspace that a caller's requests are for. */
export async function fetchWorkspaceId({ headers }: Target, baseUrl: string): Promise<string> {
  const answer = await request(`${baseUrl}/workspaces/me`, { headers: await headers() })
  return ((await answer.body.json()) as Made).data.id
}

export interface Made {
  data: { id: string }
}

/** Sends one request that creates something. */
export async function call(target: Target, method: 'POST', url: string, body: object): Promise<Made> {
  const headers = { 'content-type': 'application/json', ...(await target.headers()) }
  const answer = await request(url, { method, headers, body: JSON.stringify(body) })
  if (answer.statusCode !== 201)
    throw new Error(`${method} ${url} answered ${answer.statusCode}: ${await answer.body.text()}`)
  return (await answer.body.json()) as Made
}
