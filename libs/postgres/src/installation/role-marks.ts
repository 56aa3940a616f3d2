import type { StatementRunner } from '../database.js'
import { quoteLiteral } from '../sql-text.js'
import { type Installation, InstallationError } from './installation.js'

/** Prefix of a role's comment, followed by the id of its installation. */
export const roleMark = 'Opsplane installation '

/** The installation id a role is marked with; `null` if it has no mark, `undefined` if there is no such role. */
async function readRoleMark(sql: StatementRunner, role: string): Promise<string | null | undefined> {
  const [found] = await sql.unsafe<{ comment: string | null }[]>(
    `select shobj_description(oid, 'pg_authid') as comment from pg_roles where rolname = $1`,
    [role],
  )
  if (!found) return undefined
  return found.comment?.startsWith(roleMark) ? found.comment.slice(roleMark.length) : null
}

/** Throws InstallationError if a role belongs to another installation. Returns whether the role exists. */
export async function refuseForeignRole(
  sql: StatementRunner,
  role: string,
  { id }: Pick<Installation, 'id'>,
): Promise<boolean> {
  const mark = await readRoleMark(sql, role)
  if (mark === undefined || mark === null || mark === id) return mark !== undefined
  throw new InstallationError(
    `The role ${role} of this Postgres server belongs to installation ${mark}, and this is installation ${id}. ` +
      'Run opsplane adopt, which gives this installation roles of its own.',
  )
}

/** The statement that marks a role with the database's installation, once the database is claimed. */
export const markRole = (role: string): string => `select opsplane.mark_role(${quoteLiteral(role)})`
