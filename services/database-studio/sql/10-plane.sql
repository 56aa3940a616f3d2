-- The data plane: where tenants are, how they log in, and who acts. Applied whole at each provisioning, by a role that may
-- create roles; search_path is the service's schema. See ADR 051. Names of roles begin with the prefix of the installation:
-- :service and :tenant stand for the service's own and for that of all logins of tenants, `opsplane.role_name` gives any.

-- What tenants may call stands in a schema of its own.
create schema if not exists studio;
create schema if not exists extensions;

-- An instant as records show it: in UTC, with milliseconds, or with as many digits as it has beyond them. What is before the
-- year 1 or after 9999 is as Postgres writes it. Of one expression, so that it is inlined.
create or replace function studio.instant(value timestamptz) returns text language sql stable
return case
	when value < '0001-01-01 00:00:00+00' or value >= '10000-01-01 00:00:00+00' then value::text
	when date_trunc('milliseconds', value) = value then to_char(value at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
	else rtrim(to_char(value at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), '0') || 'Z'
end;
revoke execute on function studio.instant from public;
grant execute on function studio.instant to :tenant, :service;
-- What all logins of tenants may do, and nothing else.
grant usage on schema studio, extensions to :tenant;
-- It becomes an owner where it says so, and has none of their rights otherwise.
alter role :service noinherit;
do $$ begin
	execute format('grant connect on database %I to :tenant, :service', current_database());
end $$;
create extension if not exists pg_trgm schema extensions;

-- What logins and proofs are made of: as the two pads of HMAC-SHA-256. One row.
create table if not exists plane_keys (
	one boolean primary key default true check (one),
	key bytea not null
);
insert into plane_keys (key)
select decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex') on conflict do nothing;

-- One row for each workspace and environment that has data. `server` says which data database holds it.
create table if not exists spaces (
	id text primary key,
	workspace_id text not null,
	environment text not null,
	schema_name text not null unique,
	server text not null default 'main',
	-- The settings its roles were given: any others are a tenant's own.
	role_settings text not null default '',
	created_at timestamp(3) with time zone not null default now(),
	unique (workspace_id, environment)
);

-- The sessions of tenants, by backend: what the proofs of each are bound to, and who acts in which transaction.
create unlogged table if not exists plane_sessions (
	pid integer primary key,
	role name not null,
	nonce text not null,
	-- Of the last proof: no proof is good twice.
	sequence bigint not null,
	xid xid8,
	acting json
) with (fillfactor = 50);

grant select on plane_keys, spaces to :service;

-- The role of a space of this kind: owner, runtime, reader or migrator.
create or replace function space_role(schema_name text, kind text) returns text language sql stable
set search_path from current as $$
	select opsplane.role_name(schema_name || '_' || kind)
$$;

-- The schema of the space whose login this is; null for any other role.
create or replace function space_of(login name) returns text language sql stable
set search_path from current as $$
	select substring(login::text from '^' || opsplane.role_name('') || '(s_[0-9a-z]{12})_(?:runtime|reader|migrator)$')
$$;

create or replace function role_settings(schema_name text) returns text language sql stable
set search_path from current as $$
	select coalesce(string_agg(r.rolname || ' ' || s.setdatabase || ' ' || array_to_string(s.setconfig, ','), ';' order by r.rolname, s.setdatabase), '')
	from pg_db_role_setting s join pg_roles r on r.oid = s.setrole
	where r.rolname in (space_role(schema_name, 'runtime'), space_role(schema_name, 'reader'), space_role(schema_name, 'migrator'))
$$;

-- Gives the roles of a space their passwords and settings. Passwords arrive as SCRAM verifiers, in the order of the roles.
create or replace function set_space_roles(schema_name text, verifiers text[]) returns void language plpgsql
set search_path from current as $$
declare
	kind text;
	name text;
	place integer := 0;
begin
	foreach kind in array '{runtime,reader,migrator}'::text[] loop
		place := place + 1;
		name := space_role(schema_name, kind);
		if verifiers[place] !~ '^SCRAM-SHA-256\$' then
			raise exception 'no verifier for %', name;
		end if;
		execute format('alter role %I login password %L connection limit 40', name, verifiers[place]);
		execute format('alter role %I reset all', name);
		execute format('alter role %I in database %I reset all', name, current_database());
		begin
			execute format('alter role %I set temp_file_limit = %L', name, '256MB');
		exception when insufficient_privilege then
			-- On a server where nobody is a superuser the limit is that of the server.
			null;
		end;
	end loop;
	update spaces s set role_settings = role_settings(s.schema_name) where s.schema_name = set_space_roles.schema_name;
end
$$;

-- The space of a tenant, made unless it is there: a schema, and its roles.
create or replace function add_space(space_id text, workspace text, env text, verifiers text[]) returns spaces language plpgsql
security definer set search_path from current as $$
declare
	space spaces;
	name text := 's_' || lower(right(space_id, 12));
	owner text := space_role(name, 'owner');
	login text;
	kind text;
begin
	-- One at a time: rows of the catalogue are changed that all of them share.
	perform pg_advisory_xact_lock(7241002);
	select * into space from spaces s where s.workspace_id = workspace and s.environment = env;
	if found then
		return space;
	end if;
	insert into spaces (id, workspace_id, environment, schema_name) values (space_id, workspace, env, name);
	execute format('create role %I nologin', owner);
	perform opsplane.mark_role(owner);
	execute format('grant %I to %I', owner, current_user);
	execute format('grant %I to %I', owner, opsplane.role_name('database_studio'));
	execute format('grant %I to %I', opsplane.role_name('studio_tenant'), owner);
	execute format('create schema %I authorization %I', name, owner);
	execute format('create schema %I authorization %I', name || '_trash', owner);
	foreach kind in array '{runtime,reader,migrator}'::text[] loop
		login := space_role(name, kind);
		execute format('create role %I', login);
		perform opsplane.mark_role(login);
		execute format('grant %I to %I', opsplane.role_name('studio_tenant'), login);
		execute format('grant usage on schema %I to %I', name, login);
	end loop;
	execute format('grant %I to %I', owner, space_role(name, 'migrator'));
	perform set_space_roles(name, verifiers);
	execute format('alter default privileges for role %I in schema %I grant select on tables to %I', owner, name, space_role(name, 'reader'));
	execute format('alter default privileges for role %I in schema %I grant select, insert, update, delete on tables to %I', owner, name, space_role(name, 'runtime'));
	execute format('alter default privileges for role %I in schema %I grant usage on sequences to %I', owner, name, space_role(name, 'runtime'));
	select * into space from spaces s where s.id = space_id;
	return space;
end
$$;

-- Puts right what a tenant has changed of its own logins.
create or replace function repair_space(space_id text, verifiers text[]) returns void language plpgsql
security definer set search_path from current as $$
declare
	name text;
begin
	select schema_name into strict name from spaces where id = space_id for update;
	perform set_space_roles(name, verifiers);
end
$$;

-- Ends what a session of a tenant runs, or the session itself.
create or replace function end_session(backend integer, hard boolean) returns boolean language sql
security definer set search_path from current as $$
	select case when hard then pg_terminate_backend(a.pid) else pg_cancel_backend(a.pid) end
	from pg_stat_activity a where a.pid = backend and space_of(a.usename) in (select schema_name from spaces)
$$;

-- Called first in each session of a tenant: a number that its proofs are bound to, the last of their sequence, and whether its
-- role has other settings than it was given. A tenant can call it too, so a second call changes nothing; a backend that has the
-- pid of one before it goes on from there.
drop function if exists studio.enter();
create function studio.enter(out pid integer, out nonce text, out sequence bigint, out altered boolean) language plpgsql
security definer set search_path from current as $$
declare
	space text := space_of(session_user);
begin
	pid := pg_backend_pid();
	select s.role_settings is distinct from role_settings(s.schema_name) into altered from spaces s where s.schema_name = space;
	insert into plane_sessions as p (pid, role, nonce, sequence) values (enter.pid, session_user, gen_random_uuid()::text, 0)
	on conflict on constraint plane_sessions_pkey do update set role = excluded.role, nonce = excluded.nonce, sequence = 0, xid = null, acting = null
	where p.role <> excluded.role;
	select p.nonce, p.sequence into nonce, sequence from plane_sessions p where p.pid = enter.pid;
end
$$;

-- Says, for the present transaction, who acts. `mac` is HMAC-SHA-256 with the key of the plane over nonce, sequence and
-- payload, each ended by a line feed: whoever has no key can make none, and none is good twice.
create or replace function studio.acting(sequence bigint, payload text, mac text) returns boolean language plpgsql
security definer set search_path from current as $$
begin
	update plane_sessions s set sequence = acting.sequence, xid = pg_current_xact_id(), acting = acting.payload::json
	from plane_pads k
	where s.pid = pg_backend_pid() and s.role = session_user and s.sequence < acting.sequence
		and acting.mac = encode(sha256(k.outer_pad || sha256(k.inner_pad || convert_to(
			s.nonce || e'\n' || acting.sequence || e'\n' || acting.payload, 'UTF8'))), 'hex');
	if not found then
		raise exception 'this session does not say who acts' using errcode = 'insufficient_privilege';
	end if;
	return true;
end
$$;

create or replace function pad(key bytea, with_byte integer) returns bytea language plpgsql immutable
set search_path from current as $$
declare
	block bytea := key || decode(repeat('00', 64 - length(key)), 'hex');
begin
	for place in 0 .. 63 loop
		block := set_byte(block, place, get_byte(block, place) # with_byte);
	end loop;
	return block;
end
$$;

create table if not exists plane_pads (
	one boolean primary key default true check (one),
	inner_pad bytea not null,
	outer_pad bytea not null
);
insert into plane_pads (inner_pad, outer_pad) select pad(key, 54), pad(key, 92) from plane_keys on conflict do nothing;

revoke execute on all functions in schema studio from public;
grant execute on function studio.enter, studio.acting to :tenant;

