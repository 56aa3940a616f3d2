-- Capture: whoever changes rows of a captured table writes the journal by it, in the same statement. See ADR 052.

-- Functions made for each table; nobody but their owner has anything to do there.
create schema if not exists capture;

insert into journals values ('record') on conflict do nothing;

-- The tables whose rows are captured. The triggers know a table by its id: it keeps it wherever it is moved to.
create table if not exists captured_tables (
	table_id text primary key,
	space_id text not null references spaces,
	relation oid not null unique,
	slug text not null,
	-- Of the definition: who writes by another one is refused.
	version integer
);
grant select on captured_tables to database_studio;

-- A new id of a record, for those that SQL makes: sorted by the time of its making.
create or replace function studio.new_record_id() returns text language sql volatile
set search_path from current as $$
	select 'rec_' || ulid_time(floor(extract(epoch from clock_timestamp()) * 1000)::bigint)
		|| upper(substr(replace(gen_random_uuid()::text, '-', ''), 17, 16))
$$;
grant execute on function studio.new_record_id to studio_tenant, database_studio;
grant usage on schema studio to database_studio;
alter function studio.new_record_id security definer;

-- Who acts in this transaction, by the proof its session has given. A tenant's session that gave none writes nothing; the
-- service says it for its own, and everybody else is the platform.
create or replace function who_acts(id text, out actor json, out request_id text, out causation_id text, out source json) language plpgsql
set search_path from current as $$
declare
	acting json;
begin
	select p.acting into acting from plane_sessions p where p.pid = pg_backend_pid() and p.xid = pg_current_xact_id();
	if acting is null and session_user = 'database_studio' then
		acting := nullif(current_setting('studio.acting', true), '')::json;
	elsif acting is null and session_user ~ '^s_[0-9a-z]{12}_(runtime|reader|migrator)$' then
		raise exception 'this transaction does not say who acts' using errcode = 'insufficient_privilege';
	end if;
	if (acting->'definitions'->>id)::integer <> (select c.version from captured_tables c where c.table_id = id) then
		raise exception 'the definition of the table has changed' using errcode = 'object_not_in_prerequisite_state';
	end if;
	actor := coalesce(acting->'actor', '{"id":"system","name":"Opsplane","type":"system"}');
	request_id := acting->>'requestId';
	causation_id := acting->>'causationId';
	source := case when json_typeof(acting->'source') = 'object' then acting->'source' end;
end
$$;

-- What an id of an event made in this statement begins with: to it comes the number of the row.
create or replace function event_id_prefix() returns text language sql volatile
set search_path from current as $$
	select 'evt_' || ulid_time(floor(extract(epoch from clock_timestamp()) * 1000)::bigint)
		|| upper(substr(replace(gen_random_uuid()::text, '-', ''), 23, 10))
$$;

-- Refuses a record that is too large to be followed by others.
create or replace function checked_record(record json, record_id text) returns json language plpgsql
set search_path from current as $$
begin
	raise exception 'record % has % bytes', record_id, octet_length(record::text)
		using errcode = 'program_limit_exceeded', hint = 'A record may have at most 262144 bytes, written as JSON.';
end
$$;

-- How a column of a row stands in a record, as SQL over that row.
create or replace function record_value(row_name text, column_name name, type oid) returns text language sql immutable
set search_path from current as $$
	select case
		when type in ('int8'::regtype, 'numeric'::regtype) then format('%I.%I::text', row_name, column_name)
		when type = 'timestamptz'::regtype then format('to_char(%I.%I at time zone ''UTC'', ''YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'')', row_name, column_name)
		when type = 'bytea'::regtype then format('encode(%I.%I, ''base64'')', row_name, column_name)
		else format('%I.%I', row_name, column_name)
	end
$$;

-- Whether a column differs between two rows, as SQL: as their texts where equal values may be written in several ways.
create or replace function column_differs(column_name name, type oid) returns text language sql immutable
set search_path from current as $$
	select case
		when type in ('text'::regtype, 'varchar'::regtype, 'int4'::regtype, 'int8'::regtype, 'bool'::regtype, 'date'::regtype,
			'timestamptz'::regtype, 'uuid'::regtype, 'jsonb'::regtype)
		then format('o.%1$I is distinct from n.%1$I', column_name)
		else format('o.%1$I::text is distinct from n.%1$I::text', column_name)
	end
$$;

-- The record a row is, as SQL. `made` is SQL for when it was made, where all rows of the statement are new.
create or replace function record_of(row_name text, relation oid, slug text, made text default null) returns text language sql stable
set search_path from current as $$
	select format('(select row_to_json(r) from (select %1$I.id, %1$I.version, %2$L as "tableSlug", %3$s as "createdAt", %4$s as "updatedAt"',
			row_name, slug, coalesce(made, record_value(row_name, 'created_at', 'timestamptz'::regtype)),
			coalesce(made, record_value(row_name, 'updated_at', 'timestamptz'::regtype)))
		|| coalesce(string_agg(format(', %s as %I', record_value(row_name, attname, atttypid), attname), '' order by attnum), '')
		|| ') r)'
	from pg_attribute
	where attrelid = relation and attnum > 0 and not attisdropped and attname not in ('id', 'version', 'created_at', 'updated_at')
$$;

-- The names of the fields of a record that `condition`, SQL with the column's name for %1$I, holds for, as SQL.
create or replace function fields_where(relation oid, condition text, always text[]) returns text language sql stable
set search_path from current as $$
	select format('array_remove(array[%s]::text[], null)', concat_ws(', ',
		(select string_agg(quote_literal(field), ', ') from unnest(always) field),
		string_agg(format('case when %s then %L end', case when condition is null then column_differs(attname, atttypid) else format(condition, attname) end, attname), ', ' order by attnum)))
	from pg_attribute
	where attrelid = relation and attnum > 0 and not attisdropped and attname not in ('id', 'version', 'created_at', 'updated_at')
$$;

-- What people see of a record on events: a name or title, else its first text, else its id; as SQL.
create or replace function display_of(row_name text, relation oid) returns text language sql stable
set search_path from current as $$
	select coalesce((
		select format('coalesce(nullif(left(%1$I.%2$I, 200), ''''), %1$I.id)', row_name, attname)
		from pg_attribute
		where attrelid = relation and attnum > 0 and not attisdropped and attname <> 'id' and atttypid in ('text'::regtype, 'varchar'::regtype)
		order by array_position(array['name', 'title', 'label', attname::text], attname::text), attnum limit 1
	), format('%I.id', row_name))
$$;

-- Makes, or makes anew, the functions that capture a table, by the columns it has now.
create or replace function make_capture(id text) returns void language plpgsql
set search_path from current as $$
declare
	captured captured_tables;
	space spaces;
	base text := 't_' || lower(split_part(id, '_', 2));
	touched text;
	appends text;
begin
	select * into strict captured from captured_tables c where c.table_id = id;
	select * into strict space from spaces s where s.id = captured.space_id;
	select coalesce(string_agg(replace(replace(column_differs(attname, atttypid), 'o.', 'old.'), 'n.', 'new.'), ' or '), 'false') into touched
	from pg_attribute
	where attrelid = captured.relation and attnum > 0 and not attisdropped and attgenerated = ''
		and attname not in ('id', 'version', 'created_at', 'updated_at');

	execute format($f$
		create or replace function capture.%1$I() returns trigger language plpgsql set search_path = pg_catalog as $b$
		begin
			if tg_op = 'INSERT' then
				new.version := 1;
				new.created_at := now();
				new.updated_at := new.created_at;
			elsif new.id is distinct from old.id then
				raise exception 'the id of a record never changes' using errcode = 'integrity_constraint_violation';
			else
				new.created_at := old.created_at;
				if %2$s then
					new.version := old.version + 1;
					new.updated_at := greatest(now(), old.updated_at);
				else
					new.version := old.version;
					new.updated_at := old.updated_at;
				end if;
			end if;
			return new;
		end $b$ $f$, base || '_touch', touched);

	-- Rows arrive as r: number, id, version, display, before, after, changes. One statement draws the positions, so that
	-- whoever reads the log knows from the lock on the outbox that there is more to come.
	appends := format($f$
			appended as (
				insert into events (id, stream_type, stream_id, version, type, workspace_id, environment, actor, resource, data,
					request_id, causation_id, source, created_at)
				select prefix || lpad(upper(to_hex(r.number)), 6, '0'), 'record', %1$L || r.id, r.version, kind, %2$L, %3$L, who.actor,
					json_build_object('type', 'record', 'id', r.id, 'displayName', r.display),
					json_build_object('before', r.before, 'after', r.after, 'changes', r.changes, 'tableSlug', %4$L::text),
					who.request_id, who.causation_id, who.source, now()
				from r returning position, id)
			insert into outbox (position, workspace_id, event_id) select position, %2$L, id from appended;
			return null;
		end $f$, id || '/', space.workspace_id, space.environment, captured.slug);

	execute format($f$
		create or replace function capture.%1$I() returns trigger language plpgsql security definer
		set search_path = database_studio, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $b$
		declare
			kind text := 'record.created';
			who record;
			prefix text;
			used text;
			made text := to_char(now()::timestamptz(3) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
		begin
			if not exists (select from new_rows) then
				return null;
			end if;
			select n.id into used from new_rows n
			where exists (select from stream_heads h where h.stream_id = %2$L || n.id) limit 1;
			if used is not null then
				raise exception 'the id %% was that of a record before', used using errcode = 'unique_violation';
			end if;
			perform add_event_month((clock_timestamp() at time zone 'UTC')::date);
			who := who_acts(%7$L);
			prefix := event_id_prefix();
			with r as (
				select row_number() over () as number, n.id, n.version, %3$s as display, null::json as before,
					case when octet_length(v.record::text) <= 262144 then v.record else checked_record(v.record, n.id) end as after, %4$s as changes
				from new_rows n cross join lateral (select %5$s as record offset 0) v),
			%6$s $b$ $f$,
		base || '_insert', id || '/', display_of('n', captured.relation),
		fields_where(captured.relation, 'n.%1$I is not null', '{id,version,tableSlug,createdAt,updatedAt}'),
		record_of('n', captured.relation, captured.slug, 'made'), appends, id);

	execute format($f$
		create or replace function capture.%1$I() returns trigger language plpgsql security definer
		set search_path = database_studio, pg_temp set plan_cache_mode = force_generic_plan set enable_nestloop = off set enable_mergejoin = off as $b$
		declare
			kind text := 'record.updated';
			who record;
			prefix text;
		begin
			if not exists (select from new_rows) then
				return null;
			end if;
			perform add_event_month((clock_timestamp() at time zone 'UTC')::date);
			who := who_acts(%7$L);
			prefix := event_id_prefix();
			with r as (
				select row_number() over () as number, n.id, n.version, %2$s as display, %3$s as before,
					case when octet_length(v.record::text) <= 262144 then v.record else checked_record(v.record, n.id) end as after, %4$s as changes
				from old_rows o join new_rows n on n.id = o.id cross join lateral (select %5$s as record offset 0) v
				where n.version <> o.version),
			%6$s $b$ $f$,
		base || '_update', display_of('n', captured.relation), record_of('o', captured.relation, captured.slug),
		fields_where(captured.relation, null, '{version,updatedAt}'), record_of('n', captured.relation, captured.slug), appends, id);

	execute format($f$
		create or replace function capture.%1$I() returns trigger language plpgsql security definer
		set search_path = database_studio, pg_temp set plan_cache_mode = force_generic_plan as $b$
		declare
			kind text := 'record.deleted';
			who record;
			prefix text;
		begin
			if not exists (select from old_rows) then
				return null;
			end if;
			perform add_event_month((clock_timestamp() at time zone 'UTC')::date);
			who := who_acts(%9$L);
			prefix := event_id_prefix();
			-- The row was the head of its stream; where there is none any more, this says where the stream has ended.
			insert into stream_heads (stream_id, stream_type, workspace_id, environment, version, ended)
			select %2$L || o.id, 'record', %3$L, %4$L, o.version + 1, true from old_rows o;
			with r as (
				select row_number() over () as number, o.id, o.version + 1 as version, %5$s as display, %6$s as before,
					null::json as after, %7$s as changes
				from old_rows o),
			%8$s $b$ $f$,
		base || '_delete', id || '/', space.workspace_id, space.environment, display_of('o', captured.relation),
		record_of('o', captured.relation, captured.slug),
		fields_where(captured.relation, 'o.%1$I is not null', '{id,version,tableSlug,createdAt,updatedAt}'), appends, id);
end
$$;

create or replace function capture.refuse_truncate() returns trigger language plpgsql set search_path = pg_catalog as $$
begin
	raise exception 'a table cannot be truncated, as its history would not say so: delete its rows' using errcode = 'insufficient_privilege';
end
$$;

-- Has the rows of a table captured from now on: the functions, and the triggers that call them. To be called again when its
-- columns or its slug have changed. The table has the base columns, and belongs to the space whose schema it is in.
create or replace function attach_capture(id text, schema_name text, table_name text, slug text, definition_version integer default null) returns void language plpgsql
security definer set search_path from current as $$
declare
	target regclass := format('%I.%I', schema_name, table_name);
	base text := 't_' || lower(split_part(id, '_', 2));
	op text;
begin
	insert into captured_tables as c (table_id, space_id, relation, slug, version)
	select attach_capture.id, s.id, target, attach_capture.slug, definition_version from spaces s where attach_capture.schema_name in (s.schema_name, s.schema_name || '_trash')
	on conflict (table_id) do update set relation = excluded.relation, slug = excluded.slug, version = excluded.version where c.space_id = excluded.space_id;
	if not found then
		raise exception '% is no table of a space, or of another one than before', target using errcode = 'insufficient_privilege';
	end if;
	perform make_capture(id);
	if exists (select from pg_trigger where tgrelid = target and tgname = 'opsplane_touch') then
		return;
	end if;
	execute format('create trigger opsplane_touch before insert or update on %s for each row execute function capture.%I()', target, base || '_touch');
	execute format('create trigger opsplane_insert after insert on %s referencing new table as new_rows for each statement execute function capture.%I()', target, base || '_insert');
	execute format('create trigger opsplane_update after update on %s referencing old table as old_rows new table as new_rows for each statement execute function capture.%I()', target, base || '_update');
	execute format('create trigger opsplane_delete after delete on %s referencing old table as old_rows for each statement execute function capture.%I()', target, base || '_delete');
	execute format('create trigger opsplane_truncate before truncate on %s for each statement execute function capture.refuse_truncate()', target);
	foreach op in array '{touch,insert,update,delete,truncate}'::text[] loop
		-- Also where a session has said that it only replicates.
		execute format('alter table %s enable always trigger %I', target, 'opsplane_' || op);
	end loop;
end
$$;

-- Ends the capture of a table that is no more.
create or replace function drop_capture(id text) returns void language plpgsql
security definer set search_path from current as $$
declare
	op text;
begin
	delete from captured_tables where table_id = id;
	foreach op in array '{touch,insert,update,delete}'::text[] loop
		execute format('drop function if exists capture.%I()', 't_' || lower(split_part(id, '_', 2)) || '_' || op);
	end loop;
end
$$;

revoke execute on all functions in schema database_studio, capture from public;
grant execute on all functions in schema database_studio to database_studio;
-- Every table is captured by the functions as they are written here.
do $$ declare
	id text;
begin
	for id in select table_id from captured_tables c where exists (select from pg_class where oid = c.relation) loop
		perform make_capture(id);
	end loop;
end $$;
