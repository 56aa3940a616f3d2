import type { StatementRunner } from '../database.js'
import { quoteLiteral } from '../sql-text.js'
import { type Installation, InstallationError } from './installation.js'

/** The comment of a role, before the id of the installation it belongs to. */
export const roleMark = 'Opsplane installation '

/** The id of the installation that a role is marked with; null where it has no mark, undefined where there is no such role. */
async function readRoleMark(sql: StatementRunner, role: string): Promise<string | null | undefined> {
  const [found] = await sql.unsafe<{ comment: string | null }[]>(
    `select shobj_description(oid, 'pg_authid') as comment from pg_roles where rolname = $1`,
    [role],
  )
  if (!found) return undefined
  return found.comment?.startsWith(roleMark) ? found.comment.slice(roleMark.length) : null
}

/** Throws InstallationError where a role is another installation's. Returns whether it is there. */
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

/** The statement that marks a role with the installation of the database, once it is claimed. */
export const markRole = (role: string): string => `select opsplane.mark_role(${quoteLiteral(role)})`
