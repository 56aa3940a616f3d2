import type { StatementRunner } from '../database.js'
import { quoteIdentifier } from '../sql-text.js'
import { refuseForeignRole, roleMark } from './role-marks.js'

/** A role, and its name in this installation. */
interface RoleMove {
  from: string
  to: string
}

interface MoveOptions {
  /** The id of the installation the roles will belong to, as now recorded in the database. */
  id: string
  /** The id the roles have been marked with so far. */
  formerId: string
  /** Oids of the installation's databases: a role that owns or may use anything in other databases is shared. */
  databases: readonly string[]
  /** The roles stay unchanged, because the database this one is a copy of uses them. */
  isCopy: boolean
}

interface Found {
  name: string
  mark: string | null
  isShared: boolean
}

/**
 * Transfers everything that roles have in this database to roles with other names, within the caller's
 * transaction: a role used by this installation alone is renamed, and any other role is replaced here by a new
 * one. Missing roles are left to provisioning. Throws InstallationError if one of the new names belongs to another
 * installation.
 */
export async function moveRoles(
  sql: StatementRunner,
  moves: readonly RoleMove[],
  options: MoveOptions,
): Promise<void> {
  await sql.unsafe(`set local search_path = ''`)
  const found = await rolesNamed(sql, moves, options.databases)
  const replaced: RoleMove[] = []
  const renamed: RoleMove[] = []
  for (const move of moves) {
    if (move.from === move.to) continue
    await refuseForeignRole(sql, move.to, options)
    const former = found.get(move.from)
    if (!former) continue
    if (found.has(move.to) || !isOwn(former, options)) replaced.push(move)
    else {
      await sql.unsafe(`alter role ${quoteIdentifier(move.from)} rename to ${quoteIdentifier(move.to)}`)
      renamed.push({ from: move.to, to: move.to })
    }
  }
  if (replaced.length > 0) await replaceRoles(sql, replaced, renamed)
  const present = await rolesNamed(sql, moves, options.databases)
  const marks = moves.filter(({ to }) => present.has(to)).map(({ to }) => to)
  if (marks.length > 0)
    await sql.unsafe('select opsplane.mark_role(name) from unnest($1::text[]) name', [marks])
}

const isOwn = ({ mark, isShared }: Found, { id, formerId, isCopy }: MoveOptions): boolean =>
  !isCopy && !isShared && (mark === null || mark === id || mark === formerId)

async function rolesNamed(sql: StatementRunner, moves: readonly RoleMove[], databases: readonly string[]) {
  const rows = await sql.unsafe<Found[]>(
    `select r.rolname as name,
       case when starts_with(shobj_description(r.oid, 'pg_authid'), $2)
         then substr(shobj_description(r.oid, 'pg_authid'), length($2) + 1) end as mark,
       exists (select from pg_shdepend d where d.refclassid = 'pg_authid'::regclass and d.refobjid = r.oid
         and d.dbid <> 0 and d.dbid <> all ($3::text[]::oid[])) as "isShared"
     from pg_roles r where r.rolname = any ($1::text[])`,
    [moves.flatMap(({ from, to }) => [from, to]), roleMark, [...databases]],
  )
  return new Map(rows.map((row) => [row.name, row]))
}

/** Affects this database only: the former roles keep what they have elsewhere. */
async function replaceRoles(
  sql: StatementRunner,
  replaced: readonly RoleMove[],
  renamed: readonly RoleMove[],
): Promise<void> {
  const all = [...replaced, ...renamed]
  await sql.unsafe(
    `create temporary table own_roles (former oid primary key, old_name name, new_name name) on commit drop`,
  )
  await sql.unsafe(
    `insert into pg_temp.own_roles select r.oid, m.old, m.new
     from unnest($1::text[], $2::text[]) m (old, new) join pg_roles r on r.rolname = m.old`,
    [all.map(({ from }) => from), all.map(({ to }) => to)],
  )
  await sql.unsafe(
    'create temporary table moved_roles on commit drop as select * from pg_temp.own_roles where old_name <> new_name',
  )
  for (const statements of [newRoles, memberships, ownerships, privileges, defaultPrivileges]) {
    const rows = await sql.unsafe<{ text: string }[]>(statements)
    if (rows.length > 0) await sql.unsafe(rows.map(({ text }) => text).join(';'))
  }
  const left = await sql.unsafe<{ text: string }[]>(leftOver)
  if (left.length > 0)
    throw new Error(`roles have something that is not moved: ${left.map(({ text }) => text).join('; ')}`)
}

/**
 * Passwords and settings are not copied: provisioning sets those of services again, and tenants' logins set theirs
 * at login.
 */
const newRoles = `
  select format('create role %I %s %s', m.new_name, case when r.rolcanlogin then 'login' else 'nologin' end,
    case when r.rolinherit then 'inherit' else 'noinherit' end) as text
  from pg_temp.moved_roles m join pg_roles r on r.oid = m.former
  where not exists (select from pg_roles other where other.rolname = m.new_name)`

/** Only among the installation's roles and the adopting role: roles shared with others have further members. */
const memberships = `
  select format('grant %I to %I', role.new_name, coalesce(member.new_name, current_user)) as text
  from pg_auth_members a join pg_temp.own_roles role on role.former = a.roleid
    left join pg_temp.own_roles member on member.former = a.member
  where (member.former is not null or a.member = current_user::regrole)
    and (role.old_name <> role.new_name or member.old_name <> member.new_name)`

const ownerships = `
  select format('reassign owned by %I to %I', old_name, new_name) as text from pg_temp.moved_roles m
  where exists (select from pg_shdepend d join pg_database b on b.oid = d.dbid
    where b.datname = current_database() and d.refclassid = 'pg_authid'::regclass and d.refobjid = m.former and d.deptype = 'o')`

const privileges = `
  select format('grant %1$s on %2$s to %3$I; revoke %1$s on %2$s from %4$I', string_agg(g.privilege_type, ', '), g.object, m.new_name, m.old_name) as text
  from (
    select format('%s %s', case c.relkind when 'S' then 'sequence' else 'table' end, c.oid::regclass) as object, a.*
    from pg_class c, aclexplode(c.relacl) a
    union all select format('routine %s', p.oid::regprocedure), a.* from pg_proc p, aclexplode(p.proacl) a
    union all select format('schema %I', n.nspname), a.* from pg_namespace n, aclexplode(n.nspacl) a
    union all select format('database %I', d.datname), a.* from pg_database d, aclexplode(d.datacl) a where d.datname = current_database()
  ) g join pg_temp.moved_roles m on m.former = g.grantee
  group by g.object, m.new_name, m.old_name`

const defaultPrivileges = `
  select format('alter default privileges for role %1$I in schema %2$I grant %3$s on %4$s to %5$I;'
      ' alter default privileges for role %6$I in schema %2$I revoke %3$s on %4$s from %7$I',
    m.new_name, n.nspname, string_agg(g.privilege_type, ', '), k.kind, coalesce(grantee.new_name, old.rolname),
    m.old_name, old.rolname) as text
  from pg_default_acl d join pg_temp.moved_roles m on m.former = d.defaclrole join pg_namespace n on n.oid = d.defaclnamespace
    join (values ('r', 'tables'), ('S', 'sequences'), ('f', 'functions'), ('T', 'types')) k (type, kind) on k.type = d.defaclobjtype::text
    cross join lateral aclexplode(d.defaclacl) g join pg_roles old on old.oid = g.grantee
    left join pg_temp.moved_roles grantee on grantee.former = g.grantee
  where g.grantee <> d.defaclrole
  group by m.new_name, n.nspname, k.kind, grantee.new_name, old.rolname, m.old_name`

const leftOver = `
  select format('%s has %s', m.old_name, pg_describe_object(d.classid, d.objid, d.objsubid)) as text
  from pg_shdepend d join pg_temp.moved_roles m on m.former = d.refobjid join pg_database b on b.oid = d.dbid
  where d.refclassid = 'pg_authid'::regclass and b.datname = current_database() limit 10`
