-- What every login may do in a database by default, taken from all but the service: tenants write SQL here. Where this role is
-- no superuser, what it cannot take is left and said by `hardening_gaps`. See ADR 051.

do $$ begin
	execute format('revoke connect, temporary, create on database %I from public', current_database());
end $$;
revoke all on schema public from public;

-- Whether a built-in function stays with everybody: what computes by its arguments, and little else. What changes by itself,
-- reads settings, names of other tenants, or files, waits, locks, tells others or ends their sessions goes.
create or replace function stays_public(name name, volatility "char") returns boolean language sql immutable
set search_path from current as $$
	select case
		when name in ('random', 'random_normal', 'setseed', 'clock_timestamp', 'timeofday', 'gen_random_uuid', 'uuidv4', 'uuidv7',
			'nextval', 'currval', 'lastval', 'setval') then true
		when name in ('pg_typeof', 'pg_has_role', 'pg_get_expr', 'pg_column_is_updatable', 'pg_relation_is_updatable', 'pg_column_size',
			'pg_size_pretty', 'pg_size_bytes', 'pg_char_to_encoding', 'pg_is_other_temp_schema', 'pg_my_temp_schema', 'pg_encoding_to_char', 'pg_get_serial_sequence') then true
		when volatility = 'v' then false
		when name ~ '^(pg_|lo_|txid_|to_reg|inet_client|inet_server|binary_upgrade|current_setting|current_schemas|format_type|obj_description|col_description|shobj_description|ts_rewrite|ts_stat|version$)' then false
		when name ~ '_to_xml' then false
		else true
	end
$$;

do $$ declare
	it record;
begin
	for it in select oid::regprocedure as name, prokind from pg_proc
		where pronamespace = 'pg_catalog'::regnamespace and has_function_privilege('public', oid, 'execute')
			and not stays_public(proname, provolatile)
	loop
		execute format('grant execute on routine %s to :service', it.name);
		execute format('revoke execute on routine %s from public', it.name);
	end loop;
	-- Names, sources and sessions of others stand in the catalogue. What information_schema shows is one's own.
	for it in select oid::regclass as name from pg_class
		where relnamespace = 'pg_catalog'::regnamespace and relkind in ('r', 'v') and has_any_column_privilege('public', oid, 'select')
	loop
		execute format('grant select on %s to :service', it.name);
		execute format('revoke select on %s from public', it.name);
	end loop;
	for it in select lanname as name from pg_language where has_language_privilege('public', oid, 'usage') and lanpltrusted loop
		execute format('revoke usage on language %I from public', it.name);
	end loop;
end $$;

-- The name of a built-in type. That of any other, such as a row of a table, would name what others have.
create or replace function studio.type_name(type oid, modifier integer) returns text language sql stable
security definer set search_path from current as $$
	select format_type(oid, modifier) from pg_type where oid = type and typnamespace = 'pg_catalog'::regnamespace
$$;
revoke execute on function studio.type_name from public;
grant execute on function studio.type_name to :tenant, :service;

-- The one view of information_schema that names types and is read by everybody.
do $$ declare
	definition text := pg_get_viewdef('information_schema.columns'::regclass);
begin
	if definition ~ '[^.]\yformat_type\(' then
		execute 'create or replace view information_schema.columns as ' || regexp_replace(definition, '\yformat_type\(', 'studio.type_name(', 'g');
	end if;
exception when insufficient_privilege then
	null;
end $$;

-- What is still open to every login, where the provisioning role is no superuser: empty otherwise.
create or replace function hardening_gaps() returns table (gap text) language sql stable
set search_path from current as $$
	select 'function ' || oid::regprocedure from pg_proc
	where pronamespace = 'pg_catalog'::regnamespace and has_function_privilege('public', oid, 'execute') and not stays_public(proname, provolatile)
	union all
	select 'catalogue ' || oid::regclass from pg_class
	where relnamespace = 'pg_catalog'::regnamespace and relkind in ('r', 'v') and has_any_column_privilege('public', oid, 'select')
	union all
	select 'language ' || lanname from pg_language where has_language_privilege('public', oid, 'usage') and lanpltrusted
	union all
	select 'no guard of migrations' where not exists (select from pg_event_trigger where evtname = 'studio_guard' and evtenabled <> 'D')
$$;

-- Throws where a table of the space of this session is captured no more, or in part.
create or replace function studio.check_capture() returns void language plpgsql
security definer set search_path from current as $$
declare
	open regclass;
begin
	select c.relation::regclass into open
	from captured_tables c join spaces s on s.id = c.space_id join pg_class t on t.oid = c.relation
	where s.schema_name = space_of(session_user)
		and (not is_captured(c.relation)
			or exists (select from pg_inherits i where c.relation in (i.inhrelid, i.inhparent))
			or exists (select from pg_rewrite w where w.ev_class = c.relation))
	limit 1;
	if open is not null then
		raise exception 'changes of % would not be captured', open using errcode = 'insufficient_privilege';
	end if;
end
$$;
revoke execute on function studio.check_capture from public;
grant execute on function studio.check_capture to :tenant;

-- Whether a login of a tenant makes or changes something, as itself or as the owner of its space.
create or replace function studio.is_migrating(login name, acting name) returns boolean language sql stable
security definer set search_path from current as $$
	select acting in (space_role(space_of(login), 'owner'), space_role(space_of(login), 'migrator'))
$$;
revoke execute on function studio.is_migrating from public;
grant execute on function studio.is_migrating to :tenant, :service;

-- What a migration may do, and that capture outlives it. The service and the platform's own functions are not asked.
create or replace function capture.guard() returns event_trigger language plpgsql set search_path = pg_catalog as $$
begin
	if studio.is_migrating(session_user, current_user) is not true then
		return;
	end if;
	if tg_tag not in ('CREATE TABLE', 'CREATE TABLE AS', 'SELECT INTO', 'ALTER TABLE', 'DROP TABLE', 'CREATE INDEX', 'ALTER INDEX', 'DROP INDEX',
		'CREATE VIEW', 'ALTER VIEW', 'DROP VIEW', 'CREATE MATERIALIZED VIEW', 'ALTER MATERIALIZED VIEW', 'DROP MATERIALIZED VIEW',
		'REFRESH MATERIALIZED VIEW', 'CREATE SEQUENCE', 'ALTER SEQUENCE', 'DROP SEQUENCE', 'CREATE TYPE', 'ALTER TYPE', 'DROP TYPE',
		'CREATE DOMAIN', 'ALTER DOMAIN', 'DROP DOMAIN', 'CREATE STATISTICS', 'DROP STATISTICS', 'COMMENT') then
		raise exception '% is not among what a migration may do', tg_tag using errcode = 'insufficient_privilege';
	end if;
	perform studio.check_capture();
end
$$;

do $$ begin
	drop event trigger if exists studio_guard;
	create event trigger studio_guard on ddl_command_end execute function capture.guard();
	drop event trigger if exists studio_guard_drop;
	create event trigger studio_guard_drop on sql_drop execute function capture.guard();
exception when insufficient_privilege then
	null;
end $$;

revoke execute on function stays_public, hardening_gaps from public;
grant execute on function hardening_gaps, stays_public to :service;
