import { get } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { type Caller, createCallerHeaders } from '../limits/callers.js'

/**
 * Programs that read event streams, in a separate process: a number of streams for each workspace, each on its own
 * socket, for the incidents of its group. The reply to `count` contains the number of open streams and of received
 * events; the reply to `report` contains the time from the request to the receipt of each event, and all errors;
 * `forget` discards the events received so far.
 */
const tenants = JSON.parse(process.env.CALLERS ?? '') as Caller[][]
const streams = Number(process.env.STREAMS)
const ofGroup = Number(process.env.GROUP)

const latencies: number[] = []
const failures: string[] = []
let open = 0

async function read(caller: Caller, group: number): Promise<void> {
  const filter = encodeURIComponent(JSON.stringify({ 'data.tags': { contains: `group-${group}` } }))
  const headers = await createCallerHeaders(caller)()
  const url = `${caller.url}/events/stream?type=incident.created&changed=false&filter=${filter}`
  const reportEnd = (why: string) => failures.push(`a stream ended: ${why}`)
  get(url, { headers, agent: false }, (response) => {
    // A gateway that sheds load asks its clients to retry.
    if (response.statusCode === 503) {
      response.resume()
      return void delay(1_000).then(() => read(caller, group))
    }
    if (response.statusCode !== 200) reportEnd(`answered ${response.statusCode}`)
    let text = ''
    response.setEncoding('utf8').on('data', (chunk: string) => {
      const blocks = (text + chunk).split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) handleBlock(block)
    })
    response.on('close', () => reportEnd('closed'))
  }).on('error', (error) => reportEnd(String(error)))
}

function handleBlock(block: string): void {
  if (block.includes('event: ready')) open++
  if (!block.includes('event: event')) return
  const seenAtMs = performance.timeOrigin + performance.now()
  const data = JSON.parse(block.slice(block.indexOf('data: ') + 6)) as { data: { after: { title: string } } }
  latencies.push(seenAtMs - Number(data.data.after.title))
}

process.on('message', (message) => {
  if (message === 'count') process.send?.({ open, seen: latencies.length, failures: failures.slice(0, 3) })
  if (message === 'forget') {
    latencies.length = 0
    process.send?.({})
  }
  if (message === 'report') process.send?.({ latencies, failures: failures.slice(0, 3) })
})
process.send?.({ port: 0 })
// A gateway verifies only a few unknown tokens concurrently.
for (const caller of tenants.flat())
  while (
    (await fetch(`${caller.url}/auth/me`, { headers: await createCallerHeaders(caller)() })).status !== 200
  )
    await delay(100)
for (let at = 0; at < streams; at++) {
  for (const callers of tenants) {
    const caller = callers[at % callers.length]
    if (caller) await read(caller, Math.floor(at / ofGroup))
  }
  // A gateway sheds load if thousands of streams are opened within a second.
  await delay(10)
}
