import release from '@jitl/quickjs-wasmfile-release-sync'
import express from 'express'
import postgres from 'postgres'
import { newQuickJSWASMModuleFromVariant, type QuickJSSyncVariant } from 'quickjs-emscripten-core'

/**
 * Raw limit of an invocation: Express, a JSON body, the execution's row at the start, the code in a fresh QuickJS
 * runtime in this process, and the row at the end. No authentication, no limits, no other process. Runs as a
 * separate process.
 */
const sql = postgres(process.env.DATABASE_URL ?? '', { max: 8, connection: { search_path: 'raw' } })
const code = process.env.ARTIFACT_CODE ?? ''
const quickjs = await newQuickJSWASMModuleFromVariant(release as unknown as QuickJSSyncVariant)
let counter = 0

function run(input: unknown): unknown {
  const runtime = quickjs.newRuntime()
  const context = runtime.newContext()
  try {
    const inputHandle = context.newString(JSON.stringify(input))
    context.setProp(context.global, 'given', inputHandle)
    inputHandle.dispose()
    const module = context.unwrapResult(context.evalCode(code, 'artifact.js', { type: 'module' }))
    context.setProp(context.global, 'artifact', module)
    module.dispose()
    const output = context.unwrapResult(
      context.evalCode('artifact.default(JSON.parse(given)).then(JSON.stringify)'),
    )
    runtime.executePendingJobs()
    const state = context.getPromiseState(output)
    output.dispose()
    if (state.type !== 'fulfilled') throw new Error(`the code is ${state.type}`)
    return JSON.parse(state.value.consume((value) => context.getString(value)))
  } finally {
    context.dispose()
    runtime.dispose()
  }
}

const app = express()
app.disable('x-powered-by')
app.disable('etag')
app.use(express.json())
app.post('/invoke', async (request, response) => {
  const id = `exec_${process.pid}_${++counter}`
  const { input } = request.body
  const startedAt = new Date().toISOString()
  await sql`
    insert into executions (id, workspace_id, environment, artifact_id, artifact_slug, artifact_version, artifact_type,
      execution_type, trigger_type, trigger_id, request_id, input, bytes, depth, started_at)
    values (${id}, 'ws_bench', 'production', 'art_bench', 'doubles', 1, 'workflow_action', 'api', 'api', 'key_bench', ${id},
      ${sql.json(input)}, ${JSON.stringify(input).length}, 0, ${startedAt})`
  const began = performance.now()
  const output = run(input)
  const durationMs = Math.round(performance.now() - began)
  const completedAt = new Date().toISOString()
  await sql`
    update executions set status = 'completed', output = ${sql.json(output as never)}, logs = '[]', duration_ms = ${durationMs},
      memory_peak_mb = 1, completed_at = ${completedAt}, change_position = nextval('execution_changes')
    where id = ${id}`
  response.json({ data: { id, status: 'completed', output, startedAt, completedAt, durationMs } })
})
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.({ port: typeof address === 'object' ? address?.port : 0 })
})
