import postgres from 'postgres'
import { request } from 'undici'
import { percentile } from '../child.js'
import { createCallerHeaders, toService } from '../limits/callers.js'
import type { MeasureOptions } from '../log/creates.js'
import type { Figure } from '../report.js'
import { caller, createdAt, items, person, words, writeIncidents } from './list-rows.js'

const [few, many] = [10_000, 1_000_000]
const goal = 2
const rounds = 100
const warmUp = 5

const unended = { status: 'open,in_progress,on_hold' }
const team = { assignmentGroup: 'team_7' }

type Lists = Record<string, (rows: number) => Record<string, string>>
/** Each list by its query, with its response times at the given number of incidents. */
const lists: Lists = {
  'newest first': () => ({}),
  'from the middle on': (rows) => ({ createdBefore: createdAt(rows / 2) }),
  'one status': () => ({ status: 'on_hold' }),
  'two statuses': () => ({ status: 'on_hold,in_progress' }),
  'one assignee': () => ({ assigneeId: person }),
  'a frequent item': () => ({ ciId: items.frequent }),
  'a rare item': () => ({ ciId: items.rare }),
  'one caller': () => ({ callerId: caller }),
  'one category': () => ({ category: 'category_1' }),
  'a frequent channel': () => ({ channel: 'portal' }),
  'a rare channel': () => ({ channel: 'walk_in' }),
  'by priority': () => ({ sort: 'priority' }),
  'by severity': () => ({ sort: 'severity' }),
  'the least urgent first': () => ({ sort: '-priority' }),
  'open ones by priority': () => ({ sort: 'priority', ...unended }),
  'open ones by severity': () => ({ sort: 'severity', ...unended }),
  'one team by priority': () => ({ sort: 'priority', ...team }),
  'one team by severity': () => ({ sort: 'severity', ...team }),
  'open ones of a team by priority': () => ({ sort: 'priority', ...unended, ...team }),
  'open unassigned ones by priority': () => ({ sort: 'priority', ...unended, assigneeId: 'none' }),
  'one assignee by priority': () => ({ sort: 'priority', assigneeId: person }),
  'one assignee by severity': () => ({ sort: 'severity', assigneeId: person }),
  'one priority by severity': () => ({ sort: 'severity', priority: 'P2' }),
  'a rare item by priority': () => ({ sort: 'priority', ciId: items.rare }),
  'a common word by priority': () => ({ sort: 'priority', q: words.common }),
  'a rare word by priority': () => ({ sort: 'priority', q: words.rare }),
  'a rare word': () => ({ q: words.rare }),
  'a word in one of 200': () => ({ q: words.medium }),
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

/**
 * Measures the same lists of 50 rows alternately with 10,000 and with 1,000,000 incidents, requested directly from
 * the service.
 */
export async function measureLists({
  cluster,
  say,
}: Pick<MeasureOptions, 'cluster' | 'say'>): Promise<Figure[]> {
  const sql = postgres(cluster.info.postgresUrl, {
    max: 2,
    onnotice: () => {},
    connection: { search_path: 'itsm', maintenance_work_mem: '256MB' },
  })
  say('Writing 1,010,000 incidents…')
  const startedAt = performance.now()
  await writeIncidents(sql, { workspaceId: 'ws_few', count: few, prefix: '000000' })
  await writeIncidents(sql, { workspaceId: 'ws_many', count: many, prefix: '000001' })
  await sql.end()
  say(`  in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`)
  return compare(cluster)
}

async function compare(cluster: MeasureOptions['cluster']): Promise<Figure[]> {
  const small = createTimedRequest(cluster, 'ws_few')
  const large = createTimedRequest(cluster, 'ws_many')
  const figures: Figure[] = []
  for (const [name, queryOf] of Object.entries(lists)) {
    const durationsMs = { small: [] as number[], large: [] as number[] }
    for (let round = -warmUp; round < rounds; round++) {
      const [fromFew, fromMany] = [await small(queryOf(few)), await large(queryOf(many))]
      if (round < 0) continue
      durationsMs.small.push(fromFew)
      durationsMs.large.push(fromMany)
    }
    const [limit, p95] = [percentile(durationsMs.small, 0.95), percentile(durationsMs.large, 0.95)]
    const ratio = p95 / limit
    figures.push({
      name: `list of 50 from 1,000,000 incidents, p95: ${name}`,
      value: `${p95.toFixed(1)} ms`,
      raw: `${limit.toFixed(1)} ms from 10,000`,
      ratio,
      goal: `≤ ${goal}`,
      met: ratio <= goal,
    })
  }
  return figures
}

/** Returns a function that requests a list of a workspace and returns how long the response took. */
function createTimedRequest(cluster: MeasureOptions['cluster'], workspaceId: string) {
  const caller = toService(cluster, 'itsm', ['itsm:read'], workspaceId)
  const headers = createCallerHeaders(caller)
  return async (parameters: Record<string, string>) => {
    const url = `${caller.url}/itsm/incidents?${new URLSearchParams(parameters)}`
    const requestHeaders = await headers()
    const startedAt = performance.now()
    const response = await request(url, { headers: requestHeaders })
    const text = await response.body.text()
    const durationMs = performance.now() - startedAt
    if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}: ${text}`)
    return durationMs
  }
}
