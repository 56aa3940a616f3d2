import express from 'express'
import postgres from 'postgres'

/** Raw limit of records: Express and one plain statement through postgres.js. No authentication, history or events. */
const sql = postgres(process.env.DATABASE_URL ?? '', { max: 8, connection: { search_path: 'raw_records' } })
let counter = 0

const app = express()
app.disable('x-powered-by')
app.disable('etag')
app.use(express.json({ limit: '16mb' }))
app.get('/records/:id', async (request, response) => {
  const [row] = await sql`select * from assets where id = ${request.params.id}`
  response.json({ data: row })
})
app.get('/records', async (_request, response) => {
  response.json({ data: await sql`select * from assets order by id desc limit 50` })
})
app.post('/records', async (request, response) => {
  const id = `rec_${process.pid}_${++counter}`
  const [row] = await sql`insert into assets ${sql({ id, ...request.body })} returning *`
  response.status(201).json({ data: row })
})
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.({ port: typeof address === 'object' ? address?.port : 0 })
})
