import { Agent, get, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { type Caller, createCallerHeaders } from '../limits/callers.js'

/**
 * Programs that wait for events, in a separate process: each follows one topic with long polls on its own socket.
 * The reply to `count` contains the number of waiting polls and of events received; the reply to `report` contains
 * the time from the start of the publish until each event was received, and all errors.
 */
const caller = JSON.parse(process.env.CALLER ?? '') as Caller
const polls = Number(process.env.POLLS)
const topics = Number(process.env.TOPICS)
const prefix = process.env.TOPIC_PREFIX ?? ''

const headers = createCallerHeaders(caller)
const latencies: number[] = []
const failures: string[] = []
let waiting = 0

interface Page {
  data: { id: string; payload: { sentAtMs: number } }[]
}

async function poll(agent: Agent, index: number, after: string): Promise<Page['data']> {
  const url = `${caller.url}/events/topics/${prefix}${index % topics}/events?timeout=20000${after}`
  const options = { agent, headers: await headers() }
  waiting++
  try {
    const page = await new Promise<Page>((resolve, reject) => {
      const onAnswer = (response: IncomingMessage) => {
        json(response).then((body) => {
          if (response.statusCode === 200) resolve(body as Page)
          else reject(new Error(`a poll answered ${response.statusCode}: ${JSON.stringify(body)}`))
        }, reject)
      }
      get(url, options, onAnswer).on('error', reject)
    })
    return page.data
  } finally {
    waiting--
  }
}

async function follow(index: number): Promise<void> {
  // One agent for all clients would have no free socket yet when the next poll begins and would open another
  // connection: with thousands of ports in use the kernel needs two milliseconds to find a free one, which would
  // distort the measurement.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  for (let after = ''; ; ) {
    const events = await poll(agent, index, after)
    const seenAtMs = performance.timeOrigin + performance.now()
    for (const { id, payload } of events) {
      latencies.push(seenAtMs - payload.sentAtMs)
      after = `&after=${id}`
    }
  }
}

process.on('message', (message) => {
  if (message === 'count') process.send?.({ waiting, seen: latencies.length, failures: failures.length })
  if (message === 'report') process.send?.({ latencies, failures: failures.slice(0, 3) })
})
process.send?.({ port: 0 })
for (let index = 0; index < polls; index++) {
  follow(index).catch((error: unknown) => failures.push(String(error)))
  // Starts are spread over the time a poll waits, as with independent clients, so that polls do not all end at the
  // same time.
  if (index % 50 === 49) await delay(100)
}
