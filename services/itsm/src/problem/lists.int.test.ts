import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ConfigurationItem, Problem } from '@opsplane/contracts'
import { type ApiClient, type SharedService, testPrincipal } from '@opsplane/testing'
import { joinItsm } from '../joined.fixture.js'

let service: SharedService
beforeAll(async () => {
  service = await joinItsm()
})
afterAll(() => service?.stop())

/** Reads the ids of a whole list page by page, following its cursors. */
const walk = async (client: ApiClient, query: string): Promise<string[]> => {
  const ids: string[] = []
  for (let after = ''; ; ) {
    const { items, pagination } = (await client.get(`/itsm/problems?${query}&limit=1${after}`)).page(Problem)
    ids.push(...items.map(({ id }) => id))
    if (pagination.nextCursor === null) return ids
    after = `&after=${encodeURIComponent(pagination.nextCursor)}`
  }
}
const recordAs = async (client: ApiClient, fields: object) =>
  (await client.post('/itsm/problems', { title: 'One', ...fields })).data(Problem)

describe('the list of problems', () => {
  it('returns the problems that match all filters', async () => {
    const mine = service.as(testPrincipal())
    const add = async (fields: object) =>
      (await mine.post('/itsm/problems', { title: 'One', ...fields })).data(Problem)
    const { id: ciId } = (
      await mine.post('/cmdb/items', { class: 'server', name: 'db', status: 'operational' })
    ).data(ConfigurationItem)
    const all = [
      await add({ impact: 'high', urgency: 'high', assigneeId: 'usr_ada', tags: ['a', 'b'] }),
      await add({ assignmentGroup: 'db', ciIds: [ciId], rootCause: 'R', workaround: 'W' }),
      await add({ tags: ['b'] }),
    ]
    const [first, second, third] = all.map(({ id }) => id)
    await mine.post(`/itsm/problems/${second}/mark-known-error`)
    await mine.post(`/itsm/problems/${third}/assess`)
    const ids = async (query: string) =>
      (await mine.get(`/itsm/problems?${query}`)).page(Problem).items.map(({ id }) => id)
    expect(await ids('')).toEqual([third, second, first])
    expect(await ids('sort=number')).toEqual([first, second, third])
    expect(await ids('sort=-updatedAt')).toEqual([third, second, first])
    expect(await ids('status=assess,closed')).toEqual([third])
    expect(await ids('priority=P1')).toEqual([first])
    expect(await ids('knownError=true')).toEqual([second])
    expect(await ids('knownError=false')).toEqual([third, first])
    expect(await ids('assigneeId=usr_ada')).toEqual([first])
    expect(await ids('assigneeId=none')).toEqual([third, second])
    expect(await ids('assignmentGroup=db')).toEqual([second])
    expect(await ids(`ciId=${ciId}`)).toEqual([second])
    expect(await ids('tag=b')).toEqual([third, first])
    expect(await ids('tag=b&status=new')).toEqual([first])
    const moment = encodeURIComponent(all[1]?.createdAt ?? '')
    expect(await ids(`createdAfter=${moment}`)).toEqual([third])
    expect(await ids(`createdBefore=${moment}`)).toEqual([first])
    expect((await mine.get('/itsm/problems?knownError=yes')).status).toBe(422)
  })

  it('paginates several statuses and priorities without losing any problem', async () => {
    const mine = service.as(testPrincipal())
    const all: Problem[] = []
    for (let index = 0; index < 8; index++) {
      const level = index % 2 === 0 ? 'high' : 'low'
      const problem = await recordAs(mine, { impact: level, urgency: level })
      const assessed = index % 3 === 0 && (await mine.post(`/itsm/problems/${problem.id}/assess`))
      all.push(assessed ? assessed.data(Problem) : problem)
    }
    const newest = all.toReversed()
    const high = all[0]?.priority
    const low = all[1]?.priority
    const queries: [string, (problem: Problem) => boolean][] = [
      ['status=new,assess', () => true],
      [`status=assess,closed&priority=${high},${low}`, ({ status }) => status === 'assess'],
      [`status=new&priority=${high},${low}`, ({ status }) => status === 'new'],
      [`status=new&status=assess&priority=${high}`, ({ priority }) => priority === high],
    ]
    for (const [query, matches] of queries) {
      const expected = newest.filter(matches).map(({ id }) => id)
      expect(expected.length).toBeGreaterThan(1)
      expect([query, await walk(mine, query)]).toEqual([query, expected])
      expect([query, await walk(mine, `${query}&asOf=2120-01-01T00:00:00Z`)]).toEqual([query, expected])
    }
  })

  it('finds words of title, tags, category and description, and numbers', async () => {
    const mine = service.as(testPrincipal())
    const leak = await recordAs(mine, {
      title: 'Connections leak',
      tags: ['checkout-db'],
      category: 'memory',
    })
    const slow = await recordAs(mine, { title: 'Slow (see PRB-1)', description: 'Every **Monday** it leaks' })
    const last = await recordAs(mine, { title: 'Memory fills up' })
    expect(await walk(mine, 'q=leak')).toEqual([slow.id, leak.id])
    expect(await walk(mine, 'q=memory')).toEqual([last.id, leak.id])
    expect(await walk(mine, 'q=memory+db')).toEqual([leak.id])
    expect(await walk(mine, 'q=db&tag=checkout-db')).toEqual([leak.id])
    expect(await walk(mine, 'q=db&tag=other')).toEqual([])
    expect(await walk(mine, 'q=monday&status=new,closed')).toEqual([slow.id])
    expect(await walk(mine, `q=${last.number}`)).toEqual([last.id])
    expect(await walk(mine, 'q=prb-1')).toEqual([slow.id, leak.id])
    expect(await walk(mine, 'q=nothing')).toEqual([])
    expect(await walk(service.as(testPrincipal()), 'q=leak')).toEqual([])
  })

  it('is readable as of a past instant, with the filters applied to the state then', async () => {
    const mine = service.as(testPrincipal())
    const one = await recordAs(mine, { title: 'Connections leak', tags: ['a'] })
    const two = await recordAs(mine, { title: 'Memory leaks', rootCause: 'R', workaround: 'W' })
    await mine.patch(`/itsm/problems/${one.id}`, {
      title: 'Connections stay',
      tags: ['b'],
      assigneeId: 'usr_ada',
    })
    const known = (await mine.post(`/itsm/problems/${two.id}/mark-known-error`)).data(Problem)
    const then = `asOf=${two.createdAt}`
    expect((await mine.get(`/itsm/problems?${then}`)).page(Problem).items).toEqual([two, one])
    expect(await walk(mine, `${then}&sort=createdAt`)).toEqual([one.id, two.id])
    expect(await walk(mine, `${then}&q=leak`)).toEqual([two.id, one.id])
    expect(await walk(mine, 'q=leak')).toEqual([two.id])
    expect(await walk(mine, `${then}&tag=a&assigneeId=none`)).toEqual([one.id])
    expect(await walk(mine, `${then}&tag=b`)).toEqual([])
    expect(await walk(mine, `${then}&knownError=true`)).toEqual([])
    expect(await walk(mine, `asOf=${known.updatedAt}&knownError=true`)).toEqual([two.id])
    expect(await walk(mine, `asOf=${known.updatedAt}&tag=b&q=stay`)).toEqual([one.id])
    expect(await walk(mine, `asOf=${one.createdAt}`)).not.toContain(two.id)
    expect((await mine.get(`/itsm/problems?${then}&sort=number`)).status).toBe(422)
  })
})
