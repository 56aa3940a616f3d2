import { beforeAll, describe, expect, test } from '@jest/globals'
import { waitFor } from '@opsplane/testing'
import { typedClient } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

let platform: SharedPlatform
let ada: ReturnType<typeof typedClient>

beforeAll(async () => {
  platform = await joinPlatform()
  ada = typedClient(platform.info)
})

const report = async (query: object) => {
  const body = { name: 'Report', query: { measures: [], ...query } }
  const { data } = await ada.post('/analytics/reports', { body })
  return async (run: object = {}) =>
    (await ada.post('/analytics/reports/{id}/run', { params: { path: { id: data.id } }, body: run })).data
}

describe('what happens on the platform', () => {
  test('shows in a report and on a dashboard, to whoever waits for it', async () => {
    const path = { id: 'service-desk' }
    const before = (await ada.get('/analytics/dashboards/{id}/data', { params: { path } })).data
    const waiting = ada.get('/analytics/dashboards/{id}/data', {
      params: { path, query: { since: before.since } },
    })
    for (const severity of ['critical', 'critical', 'low'] as const)
      await ada.post('/itsm/incidents', { body: { title: 'Disk full', severity } })

    const run = await report({ dataset: 'incidents', measures: ['incidents'], dimensions: ['severity'] })
    const answer = await waitFor(async () => {
      const found = await run()
      return found.totals?.incidents === 3 && found
    })
    expect(answer.rows).toEqual([
      { severity: 'critical', incidents: 2 },
      { severity: 'low', incidents: 1 },
    ])
    expect((await waiting).data.since).not.toBe(before.since)
    const { widgets } = (await ada.get('/analytics/dashboards/{id}/data', { params: { path } })).data
    expect(widgets.find(({ id }) => id === 'open')?.answer?.totals).toEqual({ open: 3 })
    expect(widgets.every(({ error }) => error === null)).toBe(true)
  })

  test('is asked of tables and saved queries in the name of whoever asks', async () => {
    const columns = [
      { name: 'site', type: 'text' as const },
      { name: 'price', type: 'decimal' as const, precision: 10, scale: 2 },
    ]
    await ada.post('/tables', { body: { slug: 'assets', columns } })
    for (const [site, price] of [
      ['Berlin', '10.50'],
      ['Berlin', '4.50'],
      ['Oslo', '1.00'],
    ])
      await ada.post('/tables/{slug}/records', {
        params: { path: { slug: 'assets' } },
        body: { site, price },
      })

    const byTable = await report({
      table: 'assets',
      measures: ['count', 'sum:price', 'max:price'],
      dimensions: ['site'],
    })
    const expected = [
      { site: 'Berlin', count: 2, 'sum:price': 15, 'max:price': 10.5 },
      { site: 'Oslo', count: 1, 'sum:price': 1, 'max:price': 1 },
    ]
    const counted = await byTable()
    expect(counted.rows).toEqual(expected)
    expect(counted.totals).toEqual({ count: 3, 'sum:price': 16, 'max:price': 10.5 })

    const saved = {
      name: 'By site',
      sql: 'select site, sum(price)::float8 as total from assets group by 1 order by 1',
    }
    const { data: query } = await ada.post('/queries', { body: saved })
    const bySavedQuery = await report({ savedQuery: query.id })
    expect((await bySavedQuery()).rows).toEqual([
      { site: 'Berlin', total: 15 },
      { site: 'Oslo', total: 1 },
    ])
  })
})
