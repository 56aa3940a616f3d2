import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { CatalogRequest, type CommandMeta } from '@opsplane/contracts'
import { createEventStore } from '@opsplane/eventstore'
import { connect } from '@opsplane/postgres'
import { startTestService, type TestService } from '@opsplane/testing'
import { itsm } from '../service.js'
import { createActiveItem, order, rules, tasks, team } from './catalog.fixture.js'
import { catalogRequest } from './request-domain.js'

let service: TestService
beforeAll(async () => {
  service = await startTestService(itsm)
})
afterAll(() => service?.stop())

describe('concurrent actions on a request', () => {
  it('closing the last two tasks ends the request exactly once', async () => {
    const members = team(service)
    const item = await createActiveItem(members, {
      tasks: [
        { key: 'a', name: 'A' },
        { key: 'b', name: 'B' },
      ],
    })
    const requests = await Promise.all(Array.from({ length: 10 }, () => order(members.ada.api, item)))
    const end = (request: CatalogRequest, index: number, action: string) =>
      members.manager.api.post(`/catalog/requests/${request.id}/tasks/${request.tasks[index]?.id}/${action}`)
    const replies = await Promise.all(
      requests.flatMap((request) => [end(request, 0, 'complete'), end(request, 1, 'fail')]),
    )
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
    for (const { id } of requests) {
      const events = await service.sql`
        select version from events where stream_id = ${id} and type = 'request.fulfilled'`
      expect(events).toHaveLength(1)
      const ended = (await members.ada.api.get(`/catalog/requests/${id}`)).data(CatalogRequest)
      expect(ended.status).toBe('closed_incomplete')
    }
  })

  it('two approvals start the work exactly once', async () => {
    const members = team(service)
    const approvals = [...rules(members), { name: 'Other', approverIds: [members.other.id] }]
    const { id } = await order(members.ada.api, await createActiveItem(members, { approvals, tasks }))
    const path = `/catalog/requests/${id}/approve`
    await Promise.all([members.approver, members.other].map(({ api }) => api.post(path, {})))
    const rows = await service.sql`select type from events where stream_id = ${id} order by version`
    expect(rows.map(({ type }) => type).slice(3)).toEqual([
      'request.updated',
      'request.approved',
      'request.updated',
    ])
  })

  it('closing the last two tasks on two replicas that both read the request ends it exactly once', async () => {
    const members = team(service)
    const item = await createActiveItem(members, {
      tasks: [
        { key: 'a', name: 'A' },
        { key: 'b', name: 'B' },
      ],
    })
    const request = await order(members.ada.api, item)
    let waiting = 0
    let release = () => {}
    const bothHaveDecided = new Promise<void>((resolve) => {
      release = resolve
    })
    const onReplica = async (taskId: string) => {
      const database = connect(service.adminUrl, { schema: 'itsm', max: 2 })
      const store = createEventStore({ database })
      const command = { kind: 'work', action: 'complete', taskId, now: new Date().toISOString() } as const
      const requests = store.aggregate(catalogRequest)
      try {
        await store.transact(metaOf(members, command.now), async (unit) => {
          await unit.handle(requests, request.id, command)
          waiting += 1
          if (waiting === 2) release()
          await bothHaveDecided
        })
      } finally {
        await database.close()
      }
    }
    await Promise.all(request.tasks.map(({ id }) => onReplica(id)))
    expect(waiting).toBe(3)
    const events = await service.sql`select type from events where stream_id = ${request.id} order by version`
    expect(events.map(({ type }) => type).slice(3)).toEqual([
      'request.task_updated',
      'request.task_updated',
      'request.fulfilled',
    ])
  })
})

function metaOf({ manager }: ReturnType<typeof team>, now: string): CommandMeta {
  const { workspaceId, environment, actor } = manager.principal
  if (workspaceId === undefined || environment === undefined) throw new Error('The manager is nowhere.')
  return { tenant: { workspaceId, environment }, actor, now, requestId: null }
}
