import { request } from 'undici'
import { z } from 'zod'
import { median } from '../load.js'
import { call, columns } from '../records/record-calls.js'

/** A request that a tenant or an anonymous client can repeat. */
export const Operation = z.object({
  name: z.string(),
  method: z.enum(['GET', 'POST']),
  path: z.string(),
  headers: z.record(z.string(), z.string()),
  body: z.string().optional(),
})
export type Operation = z.infer<typeof Operation>

const Described = z.object({
  paths: z.record(
    z.string(),
    z.looseObject({
      get: z
        .looseObject({
          parameters: z.array(z.looseObject({ name: z.string().optional() })).default([]),
          responses: z.record(z.string(), z.looseObject({ content: z.looseObject({}).default({}) })),
        })
        .optional(),
    }),
  ),
})

const rows = 200
const longText = 'All work and no play. '.repeat(200)

/** Creates a full page of rows for each of the largest lists of a tenant. */
export async function fill(base: string, headers: Record<string, string>): Promise<void> {
  const target = { url: base, headers: async () => headers }
  const create = (path: string, body: object) => call(target, 'POST', `${base}${path}`, body)
  await create('/tables', { slug: 'dearest', columns })
  for (let row = 0; row < rows; row++) {
    await create('/tables/dearest/records', { name: `Record ${row}`, notes: longText })
    await create('/itsm/incidents', { title: `Incident ${row}`, description: longText })
  }
}

/** All reads without path parameters, with the maximum page size, and some requests that compute. */
export async function candidates(base: string, headers: Record<string, string>): Promise<Operation[]> {
  const answer = await request(`${base}/openapi.json`)
  const { paths } = Described.parse(await answer.body.json())
  const reads = Object.entries(paths).flatMap(([path, { get }]) => {
    // A stream of events has no end.
    if (get === undefined || path.includes('{') || 'text/event-stream' in (get.responses[200]?.content ?? {}))
      return []
    const limit = get.parameters.some(({ name }) => name === 'limit') ? '?limit=200' : ''
    return [`${path}${limit}`]
  })
  const further = ['/docs/swagger-ui-bundle.js', '/tables/dearest/records?limit=200']
  const json = { ...headers, 'content-type': 'application/json' }
  const post = (path: string, body: object): Operation => ({
    ...{ name: `POST ${path}`, method: 'POST', path, headers: json, body: JSON.stringify(body) },
  })
  return [
    ...[...reads, ...further].map(
      (path): Operation => ({ name: `GET ${path}`, method: 'GET', path, headers }),
    ),
    post('/queries/run', { sql: "select repeat('x', 20000) from generate_series(1, 100)" }),
    post('/knowledge/search', { query: 'a printer that prints nothing' }),
    post('/transformer/evaluate', { expression: '$sum([1..100000])', input: {} }),
    post('/itsm/incidents', { title: 'Again', description: longText }),
    post('/tables/dearest/records', { name: 'Again', notes: longText }),
  ]
}

export interface Measured extends Operation {
  /** Median time of sequential requests in milliseconds, without the first one. */
  ms: number
  bytes: number
}

const repetitions = 7

/** The slowest operations, slowest first, without those that are rejected. */
export async function dearest(
  base: string,
  operations: readonly Operation[],
  count: number,
): Promise<Measured[]> {
  const measured: Measured[] = []
  for (const operation of operations) {
    const { method, path, headers, body } = operation
    const times: number[] = []
    let bytes = 0
    for (let n = 0; n <= repetitions; n++) {
      const startedAt = performance.now()
      const answer = await request(`${base}${path}`, { method, headers, body: body ?? null })
      bytes = (await answer.body.arrayBuffer()).byteLength
      if (answer.statusCode >= 300) break
      if (n > 0) times.push(performance.now() - startedAt)
    }
    if (times.length === repetitions) measured.push({ ...operation, ms: median(times), bytes })
  }
  return measured.sort((one, other) => other.ms - one.ms).slice(0, count)
}
