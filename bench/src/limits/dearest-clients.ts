import { Agent, request } from 'undici'
import { Operation } from './operations.js'

/** Reply to `ask`: number of requests by response status. */
export type AnswerCounts = Record<string, number>

const { BASE_URL: base = '', OPERATION = '', CONNECTIONS, SECONDS } = process.env
const { method, path, headers, body } = Operation.parse(JSON.parse(OPERATION))
const connections = Number(CONNECTIONS)
const agent = new Agent({ connections })
const counts: AnswerCounts = {}
const until = performance.now() + Number(SECONDS) * 1_000

async function client(): Promise<void> {
  while (performance.now() < until) {
    const answer = await request(`${base}${path}`, { method, headers, body: body ?? null, dispatcher: agent })
    await answer.body.dump({ limit: Number.MAX_SAFE_INTEGER })
    counts[answer.statusCode] = (counts[answer.statusCode] ?? 0) + 1
  }
}

// A separate process, so that its CPU use is not measured as latency.
process.on('message', () => process.send?.(counts))
process.send?.({ port: 0 })
await Promise.all(Array.from({ length: connections }, client))
process.disconnect()
