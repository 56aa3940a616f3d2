// Calls operations by a generated TypeScript client: a request per line of the input, what came of it per line of the output.
import { createInterface } from 'node:readline'
import createClient from 'openapi-fetch'
import { calls } from './calls.js'

async function call({ operation, url, token, params, body, file, media }) {
  const client = createClient({ baseUrl: url, headers: { Authorization: `Bearer ${token}` } })
  const sent =
    file === undefined
      ? { body }
      : { body: file, bodySerializer: (text) => text, headers: { 'Content-Type': media } }
  const { data, error, response } = await calls[operation](client, { params, ...sent })
  const isRead = response.ok
    ? data !== undefined || response.status === 204
    : error?.error?.code !== undefined
  if (!isRead) throw new Error(`what came with status ${response.status} was not read`)
  return response.status
}

const write = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`)
write({ ready: Object.keys(calls) })
for await (const line of createInterface({ input: process.stdin })) {
  const answer = await call(JSON.parse(line)).then(
    (status) => ({ status }),
    (error) => ({ error: String(error) }),
  )
  write(answer)
}
