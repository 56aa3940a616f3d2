import { newId, type RoleState, resourceDecider } from '@opsplane/contracts'
import { createEventStore } from '@opsplane/eventstore'
import { connect } from '@opsplane/postgres'
import postgres from 'postgres'

/**
 * Number of writers. A message starts appends for a number of seconds, through the event store or as plain inserts;
 * the reply is the number of appends per second. Each writer begins the next append when its last one is committed.
 */
const writers = 64
const url = process.env.DATABASE_URL ?? ''
const tenant = { workspaceId: 'ws_append', environment: 'production' } as const
const actor = { id: 'usr_bench', name: 'Bench', type: 'user' } as const

const fields = () => ({ name: newId('request'), description: 'Measured', permissions: [] })

function throughTheStore(): () => Promise<unknown> {
  const store = createEventStore({ database: connect(url, { schema: 'append' }) })
  const roles = store.aggregate(
    resourceDecider<RoleState>({
      resourceType: 'role',
      table: 'roles',
      displayName: ({ name }) => name,
    }),
  )
  return () => {
    const id = newId('role')
    const now = new Date().toISOString()
    return roles.create(
      id,
      { kind: 'create', id, fields: fields(), now },
      { tenant, actor, now, requestId: id },
    )
  }
}

function asPlainInserts(): () => Promise<unknown> {
  const sql = postgres(url, { max: 8, connection: { search_path: 'inserts' } })
  return () => {
    const id = newId('role')
    const now = new Date().toISOString()
    const after = { ...fields(), id, createdAt: now, updatedAt: now }
    const data = { before: null, after, changes: Object.keys(after) }
    return sql`
      with event as (
        insert into events (id, stream_type, stream_id, version, type, workspace_id, environment, actor, resource, data,
                            request_id, created_at)
        values (${newId('event')}, 'role', ${id}, 1, 'role.created', ${tenant.workspaceId}, ${tenant.environment},
                ${sql.json(actor)}, ${sql.json({ type: 'role', id, displayName: after.name })}, ${sql.json(data)}, ${id},
                ${now}))
      insert into roles (id, workspace_id, environment, version, state)
      values (${id}, ${tenant.workspaceId}, ${tenant.environment}, 1, ${sql.json(after)})`
  }
}

async function perSecond(write: () => Promise<unknown>, seconds: number): Promise<number> {
  const startedAt = performance.now()
  const until = startedAt + seconds * 1000
  let written = 0
  const writer = async () => {
    while (performance.now() < until) {
      await write()
      written++
    }
  }
  await Promise.all(Array.from({ length: writers }, writer))
  return written / ((performance.now() - startedAt) / 1000)
}

const write = process.env.MODE === 'store' ? throughTheStore() : asPlainInserts()
process.on('message', (message) => {
  void perSecond(write, Number(message)).then((answer) => process.send?.(answer))
})
// The parent process has ended.
process.on('disconnect', () => process.exit())
process.send?.({ port: 0 })
