import { createHash } from 'node:crypto'
import { beforeAll, expect, test } from '@jest/globals'
import { waitFor } from '@opsplane/testing'
import { type Api, apiClient } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

let platform: SharedPlatform
let api: Api
beforeAll(async () => {
  platform = await joinPlatform()
  api = apiClient(platform.info)
})

interface Made {
  data: { id: string; status: string; file: { rows: number; sha256: string } | null; error: unknown }
}

test('incidents are exported, and downloaded through a URL without a login until the link is deleted', async () => {
  const titles = ['=HYPERLINK("http://evil")', 'Disk full', 'Mail, "late"']
  for (const title of titles)
    expect((await api('POST', '/itsm/incidents', { body: { title, severity: 'high' } })).status).toBe(201)
  // Two days, because midnight may pass meanwhile.
  const range = { last: 2, unit: 'day' }
  const facts = { dataset: 'incidents', columns: ['number', 'title', 'severity'], range }
  // Facts are gathered within moments: an export contains those that exist by then.
  const made = await waitFor(async () => {
    const { body, status } = await api<Made>('POST', '/analytics/exports', {
      body: { name: 'Incidents', format: 'csv', source: { facts } },
    })
    expect([status, body]).toEqual([201, expect.anything()])
    const ended = await waitFor(async () => {
      const { data } = (await api<Made>('GET', `/analytics/exports/${body.data.id}`)).body
      return data.status !== 'pending' && data
    })
    expect([ended.status, ended.error]).toEqual(['completed', null])
    return ended.file?.rows === titles.length && ended
  })

  const path = `/analytics/exports/${made.id}`
  const { data: link } = (await api<{ data: { url: string; linkId: string } }>('GET', `${path}/download`))
    .body
  expect(link.url).toMatch(new RegExp(`^${new URL(platform.info.baseUrl).origin}/downloads/lnk_`))
  const answer = await fetch(link.url)
  const text = await answer.text()
  expect([answer.status, createHash('sha256').update(text).digest('hex')]).toEqual([200, made.file?.sha256])
  expect(answer.headers.get('content-disposition')).toBe('attachment; filename="Incidents.csv"')
  const [header, ...lines] = text.trimEnd().split('\r\n')
  expect(header).toBe('number,title,severity')
  expect(lines.map((line) => line.slice(line.indexOf(',') + 1)).sort()).toEqual(
    [`"'=HYPERLINK(""http://evil"")",high`, 'Disk full,high', '"Mail, ""late""",high'].sort(),
  )
  const range2 = await fetch(link.url, { headers: { range: 'bytes=0-5' } })
  expect([range2.status, await range2.text()]).toEqual([206, 'number'])

  const query = { dataset: 'incidents', measures: ['incidents'], dimensions: ['severity'], range }
  const report = await api<{ data: { id: string } }>('POST', '/analytics/reports', {
    body: { name: 'By severity', query },
  })
  const begun = await api<Made>('POST', `/analytics/reports/${report.body.data.id}/export`, {
    body: { format: 'json' },
  })
  expect(begun.status).toBe(201)
  const reported = `/analytics/exports/${begun.body.data.id}`
  await waitFor(async () => (await api<Made>('GET', reported)).body.data.status === 'completed')
  const answered = (await api<{ data: { url: string } }>('GET', `${reported}/download`)).body.data
  expect(await (await fetch(answered.url)).json()).toEqual([{ severity: 'high', incidents: titles.length }])

  expect((await api('DELETE', `${path}/links/${link.linkId}`)).status).toBe(204)
  expect((await fetch(link.url)).status).toBe(404)
})
