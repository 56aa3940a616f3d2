import { type IncidentState, natsNames, newId, type PlatformEvent } from '@opsplane/contracts'
import { connectNats } from '@opsplane/nats'
import type { Database } from '@opsplane/postgres'
import { createLogger } from '@opsplane/runtime'
import { signedHeaders, startTestService, type TestService, testNatsUrl, waitFor } from '@opsplane/testing'
import { factTableName } from '../dataset/dataset.js'
import { datasets } from '../dataset/datasets.js'
import { type Mark, sumUpMarked } from '../rollup/sum-up.js'
import { analytics } from '../service.js'
import { type LogServer, startLogServer } from './log-server.fixture.js'

export interface Analytics extends TestService {
  /** All other services in one; each has the same log. */
  others: LogServer
}

export async function startAnalytics(): Promise<Analytics> {
  const others = await startLogServer()
  const service = await startTestService(analytics, { env: { ...servedBy(others), FEED_REST_MS: '500' } })
  const stop = async () => {
    await service.stop()
    await others.stop()
  }
  return { ...service, others, stop }
}

/** Environment variables under which a service finds all others at this URL. */
export function servedBy({ url }: Pick<LogServer, 'url'>): { SERVICE_URLS: string } {
  const named = { itsm: url, settings: url, 'database-studio': url, dispatcher: url, sdk: url }
  return { SERVICE_URLS: JSON.stringify(named) }
}

const actor = { id: 'usr_ada', name: 'Ada', type: 'user' } as const

/** An incident as contained in its events. */
export function incidentState(fields: Partial<IncidentState> = {}): IncidentState {
  const createdAt = fields.createdAt ?? '2026-03-01T09:00:00.000Z'
  return {
    id: newId('incident'),
    number: 'INC-1',
    title: 'Checkout answers 502',
    description: null,
    status: 'open',
    severity: 'high',
    assigneeId: null,
    assignmentGroup: null,
    category: null,
    ciId: null,
    callerId: null,
    tags: [],
    holdReason: null,
    resolutionCode: null,
    resolutionNotes: null,
    resolvedAt: null,
    closedAt: null,
    reopenCount: 0,
    escalationLevel: 0,
    commentCount: 0,
    impact: 'high',
    urgency: 'medium',
    priority: 'P2',
    priorityOverride: null,
    parentId: null,
    childCount: 0,
    followsParent: false,
    problemId: null,
    changeId: null,
    causedByChangeId: null,
    watcherIds: [],
    majorState: 'none',
    majorProposal: null,
    postIncidentReview: null,
    dedupKey: null,
    alertCount: 0,
    lastAlertAt: null,
    channel: null,
    followsUpOn: null,
    followUpId: null,
    createdBy: actor,
    createdAt,
    updatedAt: createdAt,
    ...fields,
  } as IncidentState
}

/** An event with `after` as the resulting state of the incident. */
export function incidentEvent(
  workspaceId: string,
  after: IncidentState,
  { version = 1, ...fields }: Partial<PlatformEvent> = {},
): PlatformEvent {
  return {
    id: newId('event'),
    type: version === 1 ? 'incident.created' : 'incident.updated',
    workspaceId,
    environment: 'production',
    createdAt: after.updatedAt,
    actor,
    resource: { type: 'incident', id: after.id, number: after.number, displayName: after.title },
    data: { before: null, after, changes: [] },
    version,
    requestId: null,
    causationId: null,
    source: null,
    ...fields,
  }
}

/** Publishes events to the stream, without a message id: the stream stores repeated events again. */
export async function publish(natsPrefix: string, events: readonly PlatformEvent[]): Promise<void> {
  const log = createLogger({ service: 'publisher', level: 'silent' })
  const link = connectNats({ url: testNatsUrl(), name: 'publisher', log })
  const names = natsNames(natsPrefix)
  const connection = await link.ready()
  const put = async (event: PlatformEvent) => {
    const [subject, body] = [names.eventSubject(event), JSON.stringify(event)]
    await connection.request(subject, body, { timeout: 5_000, headers: signedHeaders({ subject, body }) })
    return true
  }
  // The service creates the stream after it has started.
  const isThere = (error: unknown) => {
    if (!String(error).includes('no responders')) throw error
    return false
  }
  for (const event of events) await waitFor(() => put(event).catch(isThere))
  await link.close()
}

/** The facts of all datasets, by dataset name. */
export async function allFacts({ sql }: Pick<TestService, 'sql'>) {
  const found: Record<string, Record<string, unknown>[]> = {}
  for (const dataset of datasets) {
    const rows = await sql.unsafe<Record<string, unknown>[]>(
      `select * from ${factTableName(dataset)} order by id`,
    )
    found[dataset.name] = [...rows]
  }
  return found
}

export const isRebuilt = ({ sql }: Pick<TestService, 'sql'>) =>
  waitFor(
    async () =>
      (await sql`select from fact_rebuilds union all select from fact_feeds where as_of is null`).length ===
      0,
  )

/** Waits until a fact table has `count` rows of a workspace. */
export const waitForFacts = (service: TestService, table: string, workspaceId: string, count: number) =>
  waitFor(async () => {
    const rows = await service.sql.unsafe<Record<string, unknown>[]>(
      `select * from ${table} where workspace_id = $1 order by id`,
      [workspaceId],
    )
    return rows.length >= count && [...rows]
  })

/** Aggregates every changed block, except those another worker has locked. */
export async function sumUpAll({ sql }: Pick<Database, 'sql'>): Promise<void> {
  for (let left = 1; left > 0; )
    left = await sql.begin(async (tx) => {
      const marks = await tx.unsafe<Mark[]>(
        `select id as key, workspace_id, environment, dataset, level, block from rollup_marks
         where level = (select min(level) from rollup_marks) order by id limit 500 for update skip locked`,
      )
      await sumUpMarked(tx, marks)
      const [more] = await tx.unsafe<{ count: number }[]>('select count(*)::integer from rollup_marks')
      return more?.count ?? 0
    })
}
