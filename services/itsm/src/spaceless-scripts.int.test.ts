import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { Incident, KnowledgeResults } from '@opsplane/contracts'
import type { SharedService } from '@opsplane/testing'
import { joinItsm } from './joined.fixture.js'
import { knowledgeTeam } from './knowledge/knowledge.fixture.js'

let service: SharedService
beforeAll(async () => {
  service = await joinItsm()
})
afterAll(() => service?.stop())

const cases = [
  ['打印机无法连接网络', ['打印机', '印机', '无法连接', '机', 'WLAN 打印机'], ['打机', '复印机']],
  [
    '新しい電源アダプターが届かない',
    ['電源', 'アダプター', '電源アダプター', '届かない'],
    ['電アダ', '電話'],
  ],
  ['3층 프린터가 고장났어요', ['프린터', '프린터 고장', '고장'], ['린프', '스캐너']],
  ['เครื่องพิมพ์ไม่ทำงาน', ['พิมพ์', 'เครื่องพิมพ์', 'ไม่ทำงาน'], ['พ์พิ', 'สแกนเนอร์']],
  ['Drucker Müller GRÖSSE', ['muller', 'MÜLLER', 'große', 'grosse'], ['mueller']],
] as const

it.each(cases)('finds incidents and articles by part of the title %s', async (text, queries, others) => {
  const team = knowledgeTeam(service)
  const title = `${text} WLAN`
  const incident = (await team.author.post('/itsm/incidents', { title })).data(Incident)
  const article = await team.publish({ title, body: '-' })
  await team.author.post('/itsm/incidents', { title: 'WLAN' })
  await team.publish({ title: 'WLAN', body: '-' })

  const incidents = async (q: string) => {
    const reply = await team.author.get(`/itsm/incidents?q=${encodeURIComponent(q)}`)
    return reply.page(Incident).items.map(({ id }) => id)
  }
  const articles = async (query: string) => {
    const reply = await team.reader.post('/knowledge/search', { query, mode: 'lexical' })
    return reply.data(KnowledgeResults).results.filter(({ ranks }) => ranks.text !== null)
  }
  for (const query of queries) {
    expect([query, await incidents(query)]).toEqual([query, [incident.id]])
    if (query.length > 1) expect([query, (await articles(query))[0]?.id]).toEqual([query, article.id])
  }
  for (const query of others) {
    expect([query, await incidents(query)]).toEqual([query, []])
    expect([query, (await articles(`"${query}"`)).length]).toEqual([query, 0])
  }
})

it.each([
  ['打印机无法连接网络', '打印机', '<mark>打印机</mark>无法连接网络'],
  ['打印机无法连接网络 WLAN', 'WLAN 无法连接', '打印机<mark>无法连接</mark>网络 <mark>WLAN</mark>'],
  [
    '新しい電源アダプターが届かない',
    '電源 届かない',
    '新しい<mark>電源</mark>アダプターが<mark>届かない</mark>',
  ],
  ['电源 打印机', '电源', '<mark>电源</mark> 打印机'],
  ['打印机 & 网络', '打印机', '<mark>打印机</mark> &amp; 网络'],
])('highlights in %s the query %s', async (title, query, marked) => {
  const team = knowledgeTeam(service)
  await team.publish({ title, body: '-' })
  const reply = await team.reader.post('/knowledge/search', { query, mode: 'lexical' })
  expect(reply.data(KnowledgeResults).results[0]?.highlights.title).toBe(marked)
})
