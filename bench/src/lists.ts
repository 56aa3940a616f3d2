import postgres from 'postgres'
import { request } from 'undici'
import { headersOf, toService } from './callers.js'
import { percentile } from './child.js'
import type { MeasureOptions } from './creates.js'
import { createdAt, person, words, writeIncidents } from './list-rows.js'
import type { Figure } from './report.js'

const [few, many] = [10_000, 1_000_000]
const goal = 2
const rounds = 60

type Lists = Record<string, (rows: number) => Record<string, string>>
/** Each list by its query, when there are so many incidents. */
const lists: Lists = {
  'newest first': () => ({}),
  'from the middle on': (rows) => ({ createdBefore: createdAt(rows / 2) }),
  'one status': () => ({ status: 'on_hold' }),
  'two statuses': () => ({ status: 'on_hold,in_progress' }),
  'one assignee': () => ({ assigneeId: person }),
  'a rare word': () => ({ q: words.rare }),
  'a common word': () => ({ q: words.common }),
  'a common word, two statuses, one assignee': () => ({
    q: words.common,
    status: 'closed,resolved',
    assigneeId: person,
  }),
  'as of the middle': (rows) => ({ asOf: createdAt(rows / 2) }),
  'as of the middle, two statuses': (rows) => ({
    asOf: createdAt(rows / 2),
    status: 'on_hold,in_progress',
  }),
}
/** Told without a goal: it grows, up to a bound (ADR 032). */
const bounded: Lists = { 'a word in one of 200': () => ({ q: words.medium }) }

/** The same lists of 50, from 10,000 incidents and then from 1,000,000, asked of the service itself. */
export async function measureLists({
  cluster,
  say,
}: Pick<MeasureOptions, 'cluster' | 'say'>): Promise<Figure[]> {
  const sql = postgres(cluster.info.postgresUrl, {
    max: 2,
    onnotice: () => {},
    connection: { search_path: 'itsm', maintenance_work_mem: '256MB' },
  })
  const caller = toService(cluster, 'itsm', ['itsm:read'])
  const headers = headersOf(caller)
  const ask = async (parameters: Record<string, string>) => {
    const startedAt = performance.now()
    const url = `${caller.url}/itsm/incidents?${new URLSearchParams(parameters)}`
    const response = await request(url, { headers: await headers() })
    const text = await response.body.text()
    const tookMs = performance.now() - startedAt
    if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}: ${text}`)
    return tookMs
  }
  const measure = async (rows: number) => {
    const times = new Map<string, number>()
    for (const [name, queryOf] of Object.entries({ ...lists, ...bounded })) {
      const query = queryOf(rows)
      for (let warming = 0; warming < 5; warming++) await ask(query)
      const took: number[] = []
      for (let round = 0; round < rounds; round++) took.push(await ask(query))
      times.set(name, percentile(took, 0.95))
    }
    return times
  }

  say('Writing 10,000 incidents…')
  await writeIncidents(sql, 'ws_bench', 1, few)
  const small = await measure(few)
  say('Writing 1,000,000 incidents…')
  const startedAt = performance.now()
  await writeIncidents(sql, 'ws_bench', few + 1, many)
  say(`  in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`)
  const large = await measure(many)
  await sql.end()
  return [...large].map(([name, p95]) => {
    const limit = small.get(name) ?? Number.NaN
    const ratio = p95 / limit
    return {
      name: `list of 50 from 1,000,000 incidents: ${name}, p95`,
      value: `${p95.toFixed(1)} ms`,
      raw: `${limit.toFixed(1)} ms from 10,000`,
      ratio,
      ...(name in bounded ? { goal: '', met: true } : { goal: `≤ ${goal}`, met: ratio <= goal }),
    }
  })
}
