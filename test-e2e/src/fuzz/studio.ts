import type { typedClient } from '../platform.js'

type Client = ReturnType<typeof typedClient>
type Path = Record<string, string>

/** Things of the database studio in the status an operation applies to. */
export function studioOf(owner: Client) {
  let made = 0

  /** The next to be applied: whatever waits before it is deleted. */
  async function migration(): Promise<Path> {
    const params = { query: { limit: 200 } }
    for await (const { id, status } of owner.items('/migrations', { params }))
      if (status !== 'applied') await owner.delete('/migrations/{id}', { params: { path: { id } } })
    const table = `made_${++made}`
    const body = { name: table, up: `create table ${table} (a text)`, down: `drop table ${table}` }
    return { id: (await owner.post('/migrations', { body })).data.id }
  }

  async function appliedMigration(): Promise<Path> {
    const path = await migration()
    await owner.post('/migrations/{id}/apply', { params: { path: { id: path.id ?? '' } }, body: {} })
    return path
  }

  async function droppedTable(): Promise<Path> {
    const slug = `dropped_${++made}`
    await owner.post('/tables', { body: { slug, columns: [] } })
    await owner.delete('/tables/{slug}', { params: { path: { slug } } })
    return { slug }
  }

  return {
    prepared: {
      '/tables/{slug}/restore': droppedTable,
      '/migrations/{id}/apply': migration,
      '/migrations/{id}/dry-run': migration,
      '/migrations/{id}/rollback': appliedMigration,
    },
  }
}
