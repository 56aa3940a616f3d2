import type { typedClient } from '../platform.js'

type Client = ReturnType<typeof typedClient>
type Path = Record<string, string>
/** Uploads the file to the target, and resolves with `data` of the response. */
type Upload = (target: string) => Promise<{ id: string }>

/** A file that is valid for the table it is uploaded to. */
export const file = 'name\nBerlin\n'

/** Prepares resources of the database studio in the status an operation applies to. */
export async function prepareStudio(owner: Client, upload: Upload) {
  let made = 0
  const [sites, assets] = ['sites', 'assets']
  const name = { name: 'name', type: 'text' as const }
  await owner.post('/tables', { body: { slug: sites, columns: [name] } })
  const site = { name: 'site', type: 'reference' as const, table: sites }
  await owner.post('/tables', { body: { slug: assets, columns: [name, site] } })

  /** The next migration to apply; deletes those waiting before it. */
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

  async function begunImport(): Promise<Path> {
    const { id } = await upload(`/tables/${sites}/records/import`)
    return { slug: sites, id }
  }

  return {
    prepared: {
      '/tables/{slug}/imports/{id}': begunImport,
      '/tables/{slug}/records/import': async () => ({ slug: sites }),
      '/tables/{slug}/restore': droppedTable,
      '/migrations/{id}': migration,
      '/migrations/{id}/apply': migration,
      '/migrations/{id}/dry-run': migration,
      '/migrations/{id}/rollback': appliedMigration,
    },
  }
}
