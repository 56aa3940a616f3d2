import {
  applyDefinitions,
  Definitions,
  findInstallation,
  formatRole,
  quoteIdentifier,
  readDefinitions,
  type StatementRunner,
  withRoles,
} from '@opsplane/postgres'
import type { ExtraSchemas } from '@opsplane/service'
import { z } from 'zod'
import { spaceRoles } from './logins.js'
import { tenantRole } from './provision-data-plane.js'
import { spaceRoleName } from './space.js'

const schema = 'database_studio'

const SavedSpace = z.object({
  id: z.string(),
  workspaceId: z.string(),
  environment: z.string(),
  schemaName: z.string(),
  /** Password verifiers that Postgres stores for the logins, in the order of the roles. */
  verifiers: z.array(z.string()),
})
type SavedSpace = z.infer<typeof SavedSpace>

/** A captured table, identified by name: its id in the capture differs between databases. */
const SavedCapture = z.object({
  tableId: z.string(),
  schemaName: z.string(),
  name: z.string(),
  slug: z.string(),
  version: z.int().nullable(),
})

const Saved = z.object({
  spaces: z.array(SavedSpace),
  captured: z.array(SavedCapture),
  definitions: Definitions,
})

/** The roles of a space by their names in backups, without the prefix, which differs between installations. */
const rolesOf = (schemaName: string) =>
  [...spaceRoles, 'owner' as const].map((role) => spaceRoleName(schemaName, role))

/** The spaces of tenants: schemas, logins, tables and all objects that migrations have created in them. */
export const spacesBackupSchema: ExtraSchemas = {
  async roles(sql) {
    const rows = await sql.unsafe<{ name: string }[]>(
      `select schema_name as name from ${schema}.spaces order by id`,
    )
    return [tenantRole, ...rows.flatMap(({ name }) => rolesOf(name))]
  },

  async describe(sql) {
    const spaces = await savedSpaces(sql)
    const captured = await sql.unsafe(
      `select c.table_id as "tableId", n.nspname as "schemaName", r.relname as name, c.slug, c.version
       from ${schema}.captured_tables c join pg_class r on r.oid = c.relation join pg_namespace n on n.oid = r.relnamespace
       order by c.table_id`,
    )
    const schemas = spaces.flatMap(({ schemaName }) => [schemaName, `${schemaName}_trash`])
    const { rolePrefix } = await findInstallation(sql)
    const definitions = withRoles(await readDefinitions(sql, schemas), (role) =>
      role.startsWith(rolePrefix) ? role.slice(rolePrefix.length) : role,
    )
    return { schemas, description: { spaces, captured: captured.map((row) => ({ ...row })), definitions } }
  },

  async prepare(sql, description) {
    const { spaces, definitions } = await savedFor(sql, description)
    await dropSpaces(sql)
    await searchHere(sql)
    for (const { id, workspaceId, environment, verifiers } of spaces)
      await sql.unsafe('select add_space($1, $2, $3, $4::text[])', [id, workspaceId, environment, verifiers])
    await applyDefinitions(sql, definitions.before)
  },

  async finish(sql, description) {
    const { captured, definitions } = await savedFor(sql, description)
    await applyDefinitions(sql, definitions.after)
    await searchHere(sql)
    await sql.unsafe('delete from captured_tables')
    for (const { tableId, schemaName, name, slug, version } of captured)
      await sql.unsafe('select attach_capture($1, $2, $3, $4, $5::text::int)', [
        ...[tableId, schemaName, name, slug],
        version === null ? null : String(version),
      ])
    await sql.unsafe(
      `update table_shapes t set shape = jsonb_set(t.shape, '{oid}', to_jsonb(c.relation::bigint))
       from captured_tables c where c.table_id = t.table_id`,
    )
    await sql.unsafe('update spaces set role_settings = role_settings(schema_name)')
  },
}

/** The saved description, with role names translated to those of this installation. */
async function savedFor(sql: StatementRunner, description: unknown): Promise<z.infer<typeof Saved>> {
  const saved = Saved.parse(description)
  const own = new Set(saved.spaces.flatMap(({ schemaName }) => rolesOf(schemaName)))
  const installation = await findInstallation(sql)
  const rename = (role: string) => (own.has(role) ? formatRole(installation, role) : role)
  return { ...saved, definitions: withRoles(saved.definitions, rename) }
}

const searchHere = (sql: StatementRunner) => sql.unsafe(`set local search_path = ${schema}`)

async function savedSpaces(sql: StatementRunner): Promise<SavedSpace[]> {
  const rows = await sql.unsafe(
    `select s.id, s.workspace_id as "workspaceId", s.environment, s.schema_name as "schemaName",
       (select array_agg(a.rolpassword order by r.place) from unnest($1::text[]) with ordinality r (name, place)
        join pg_authid a on a.rolname = opsplane.role_name(s.schema_name || r.name)) as verifiers
     from ${schema}.spaces s order by s.id`,
    [spaceRoles.map((role) => spaceRoleName('', role))],
  )
  return rows.map((row) => SavedSpace.parse({ ...row }))
}

/** Drops all spaces, for a restore over an installation that is in use. */
async function dropSpaces(sql: StatementRunner): Promise<void> {
  const rows = await sql.unsafe<{ name: string }[]>(`select schema_name as name from ${schema}.spaces`)
  const installation = await findInstallation(sql)
  for (const { name } of rows) {
    await sql.unsafe(`drop schema ${quoteIdentifier(name)}, ${quoteIdentifier(`${name}_trash`)} cascade`)
    for (const role of rolesOf(name)) {
      const login = quoteIdentifier(formatRole(installation, role))
      await sql.unsafe(`drop owned by ${login} cascade`)
      await sql.unsafe(`drop role ${login}`)
    }
  }
  await sql.unsafe(`delete from ${schema}.captured_tables`)
  await sql.unsafe(`delete from ${schema}.spaces`)
}
