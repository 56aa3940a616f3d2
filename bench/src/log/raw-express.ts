import express from 'express'
import postgres from 'postgres'

/**
 * Raw limit of an incident create: Express, a JSON body, and the same two rows in one transaction through
 * postgres.js. No authentication, no validation, no event distribution. Runs as a separate process.
 */
const sql = postgres(process.env.DATABASE_URL ?? '', { max: 8, connection: { search_path: 'raw' } })
let counter = 0

const app = express()
app.disable('x-powered-by')
app.disable('etag')
app.use(express.json())
app.post('/itsm/incidents', async (request, response) => {
  const number = ++counter
  const id = `inc_${process.pid}_${number}`
  const now = new Date().toISOString()
  const incident = {
    id,
    number: `INC-${number}`,
    title: request.body.title,
    status: 'open',
    severity: 'medium',
    createdAt: now,
    updatedAt: now,
  }
  const data = { before: null, after: incident, changes: Object.keys(incident) }
  await sql.begin(async (transaction) => {
    await transaction`
      insert into events (id, stream_type, stream_id, version, type, workspace_id, environment, actor, resource, data, request_id, created_at)
      values (${`evt_${process.pid}_${number}`}, 'incident', ${id}, 1, 'incident.created', 'ws_bench', 'production',
              ${transaction.json({ id: 'u', name: 'u', type: 'user' })}, ${transaction.json({ type: 'incident', id })},
              ${transaction.json(data)}, ${id}, ${now})`
    await transaction`
      insert into incidents (id, workspace_id, environment, version, state)
      values (${id}, 'ws_bench', 'production', 1, ${transaction.json(incident)})`
  })
  response.status(201).json({ data: incident })
})
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.({ port: typeof address === 'object' ? address?.port : 0 })
})
