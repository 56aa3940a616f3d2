import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { Change, type NewChange, Problem, type ProblemPatch, problemEvents } from '@opsplane/contracts'
import {
  type EventRecorder,
  recordEvents,
  startTestService,
  type TestService,
  testPrincipal,
  waitFor,
  waitUntilSettled,
} from '@opsplane/testing'
import { change as changeDecider } from '../change/domain.js'
import { createReplica, type TestReplica, toCommandMeta } from '../replica.fixture.js'
import { itsm } from '../service.js'
import { createChangesEndedReporter } from './changes-ended.js'

let service: TestService
let recorder: EventRecorder
const principal = testPrincipal()
const api = () => service.as(principal)
beforeAll(async () => {
  service = await startTestService(itsm)
  recorder = await recordEvents(service.natsPrefix)
})
afterAll(async () => {
  await recorder?.stop()
  await service?.stop()
})

const record = async (fields: ProblemPatch = {}) =>
  (await api().post('/itsm/problems', { title: 'Disks fill up', ...fields })).data(Problem)
const draft = async (fields: Partial<NewChange> = {}) =>
  (await api().post('/itsm/changes', { title: 'New disks', ...fields })).data(Change)
const cancel = async ({ id }: Change) => (await api().post(`/itsm/changes/${id}/cancel`, {})).data(Change)

/** Reports of a problem once every event so far is applied: for each report, the numbers of its changes. */
const reported = async ({ id }: Problem) => {
  await waitUntilSettled(service)
  const rows = await service.sql`
    select data, version from events where stream_id = ${id} and type = 'problem.changes_ended' order by version`
  return rows
    .map(({ data, version }) => problemEvents['problem.changes_ended'].data.parse({ ...data, version }))
    .map(({ endedChanges }) => endedChanges.map(({ number }) => number).sort())
}

it('emits problem.changes_ended once the last linked change has ended, whichever side has the link', async () => {
  const [named, other] = [await draft(), await draft()]
  const problem = await record({ changeIds: [named.id] })
  const naming = await draft({ problemId: problem.id })
  await cancel(other)
  await cancel(named)
  expect(await reported(problem)).toEqual([])
  await cancel(naming)
  expect(await reported(problem)).toEqual([[named.number, naming.number].sort()])
  const now = (await api().get(`/itsm/problems/${problem.id}`)).data(Problem)
  expect({ ...now, version: problem.version }).toEqual(problem)
})

it('emits nothing for problems that have ended or belong to another environment', async () => {
  const problem = await record()
  const change = await draft({ problemId: problem.id })
  await api().post(`/itsm/problems/${problem.id}/assess`)
  await api().post(`/itsm/problems/${problem.id}/close`, {
    resolution: 'risk_accepted',
    resolutionNotes: 'Rare.',
  })
  const staging = service.as({ ...principal, environment: 'staging' })
  const elsewhere = (await staging.post('/itsm/problems', { title: 'Disks fill up' })).data(Problem)
  await cancel(change)
  expect([...(await reported(problem)), ...(await reported(elsewhere))]).toEqual([])
})

it('emits again when another linked change has ended, but not when a completed change is closed', async () => {
  const problem = await record()
  const window = { plannedStart: '2026-03-07T22:00:00.000Z', plannedEnd: '2026-03-08T02:00:00.000Z' }
  const change = await draft({ problemId: problem.id, type: 'emergency', ...window })
  const approver = service.as({
    ...principal,
    userId: 'usr_boss',
    actor: { ...principal.actor, id: 'usr_boss' },
  })
  const act = (action: string, body: object, as = api()) =>
    as.post(`/itsm/changes/${change.id}/${action}`, body).then((reply) => reply.data(Change))
  await act('submit', {})
  await act('approve', {}, approver)
  await act('implement', {})
  await act('complete', { outcome: 'successful' })
  expect(await reported(problem)).toEqual([[change.number]])
  await act('close', {}, approver)
  expect(await reported(problem)).toEqual([[change.number]])
  const later = await draft({ problemId: problem.id })
  await cancel(later)
  expect(await reported(problem)).toEqual([[change.number], [change.number, later.number].sort()])
})

/** Cancels changes in one commit, so that all of them have ended when the first of these ends is handled. */
function cancelTogether({ store }: TestReplica, ended: readonly Change[]) {
  const meta = toCommandMeta(principal)
  const aggregate = store.aggregate(changeDecider)
  return store.transact(meta, async (unit) => {
    for (const { id } of ended) await unit.handle(aggregate, id, { kind: 'cancel', now: meta.now })
  })
}

const cancellationOf = ({ id }: Change) =>
  waitFor(
    () =>
      recorder.published.find(({ event }) => event.type === 'change.canceled' && event.resource.id === id)
        ?.event,
  )

it('emits one event for changes that end together, whichever replica handles them first', async () => {
  const replicas = [createReplica(service), createReplica(service)]
  const [one] = replicas
  if (!one) throw new Error('There is no replica.')
  try {
    for (let round = 0; round < 5; round++) {
      const problem = await record()
      const ended = [await draft({ problemId: problem.id }), await draft({ problemId: problem.id })]
      await cancelTogether(one, ended)
      const events = await Promise.all(ended.map(cancellationOf))
      const applying = replicas.flatMap((ctx) =>
        events.map((event) => createChangesEndedReporter(ctx)(event)),
      )
      await Promise.all(applying)
      const again = createChangesEndedReporter(one)
      for (const event of events) await again(event)
      expect(await reported(problem)).toEqual([ended.map(({ number }) => number).sort()])
    }
  } finally {
    for (const { database } of replicas) await database.close()
  }
})

it('emits each change once if more have ended together than one event can name', async () => {
  const one = createReplica(service)
  try {
    const problem = await record()
    const drafts = Array.from({ length: 102 }, () => draft({ problemId: problem.id }))
    const ended = await Promise.all(drafts)
    await cancelTogether(one, ended)
    await Promise.all(ended.map(cancellationOf))
    const named = await reported(problem)
    expect(named.map(({ length }) => length)).toEqual([100, 100])
    expect([...new Set(named.flat())].sort()).toEqual(ended.map(({ number }) => number).sort())
  } finally {
    await one.database.close()
  }
})
