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
grant select on captured_tables to :service;

-- A new id of a record, for those that SQL makes: sorted by the time of its making.
create or replace function studio.new_record_id() returns text language sql volatile
set search_path from current as $$
	select 'rec_' || ulid_time(floor(extract(epoch from clock_timestamp()) * 1000)::bigint)
		|| upper(substr(replace(gen_random_uuid()::text, '-', ''), 17, 16))
$$;
grant execute on function studio.new_record_id to :tenant, :service;
grant usage on schema studio to :service;
alter function studio.new_record_id security definer;

-- Who acts where no session has proved it: the service says it for its own, a tenant writes nothing then, and everybody else
-- is the platform.
create or replace function acts_unproved() returns json language plpgsql
set search_path from current as $$
begin
	if session_user = opsplane.role_name('database_studio') then
		return coalesce(nullif(current_setting('studio.acting', true), '')::json, '{}');
	elsif space_of(session_user) is not null then
		raise exception 'this transaction does not say who acts' using errcode = 'insufficient_privilege';
	end if;
	return '{}';
end
$$;

-- Refuses a record that is too large to be followed by others.
create or replace function checked_record(record text, record_id text) returns text language plpgsql
set search_path from current as $$
begin
	raise exception 'record % has % bytes', record_id, octet_length(record)
		using errcode = 'program_limit_exceeded', hint = 'A record may have at most 262144 bytes, written as JSON.';
end
$$;

-- The columns of a table that are its own, not every record's.
create or replace function own_columns(relation oid) returns table (name name, type oid, generated boolean, place integer) language sql stable
set search_path from current as $$
	select attname, atttypid, attgenerated <> '', attnum from pg_attribute
	where attrelid = relation and attnum > 0 and not attisdropped and attname not in ('id', 'version', 'created_at', 'updated_at')
$$;

-- The value of a column as JSON, as SQL that gives a text. Written as text, and read as JSON once for the whole event, it takes
-- half of what row_to_json and json_build_object take.
create or replace function json_text(row_name text, column_name name, type oid) returns text language sql immutable
set search_path from current as $$
	select format(case
		when type in ('int2'::regtype, 'int4'::regtype, 'bool'::regtype, 'jsonb'::regtype) then 'coalesce(%1$I.%2$I::text, ''null'')'
		when type in ('int8'::regtype, 'numeric'::regtype, 'uuid'::regtype) then 'coalesce(''"'' || %1$I.%2$I::text || ''"'', ''null'')'
		when type = 'timestamptz'::regtype then 'coalesce(''"'' || studio.instant(%1$I.%2$I) || ''"'', ''null'')'
		-- A text that json takes and Postgres cannot look into would stand in the journal for ever.
		when type in ('json'::regtype, 'json[]'::regtype) then 'coalesce(to_json(%1$I.%2$I)::jsonb::text, ''null'')'
		-- As elements by themselves are written.
		when type in ('int8[]'::regtype, 'numeric[]'::regtype) then 'coalesce(to_json(%1$I.%2$I::text[])::text, ''null'')'
		when type = 'timestamptz[]'::regtype then 'case when %1$I.%2$I is null then ''null'' else
			to_json(array(select studio.instant(item) from unnest(%1$I.%2$I) item))::text end'
		when type = 'bytea'::regtype then 'coalesce(to_json(encode(%1$I.%2$I, ''base64''))::text, ''null'')'
		else 'coalesce(to_json(%1$I.%2$I)::text, ''null'')'
	end, row_name, column_name)
$$;

-- Whether a column differs between two rows, as SQL: as their texts where equal values may be written in several ways.
create or replace function column_differs(before text, after text, column_name name, type oid) returns text language sql immutable
set search_path from current as $$
	select format(case
		when type in ('text'::regtype, 'varchar'::regtype, 'int4'::regtype, 'int8'::regtype, 'bool'::regtype, 'date'::regtype,
			'timestamptz'::regtype, 'uuid'::regtype, 'jsonb'::regtype)
		then '%1$I.%3$I is distinct from %2$I.%3$I'
		else '%1$I.%3$I::text is distinct from %2$I.%3$I::text'
	end, before, after, column_name)
$$;

-- The record a row is, as SQL that gives its JSON as a text. `made` is SQL for the JSON of when it was made, where all rows of the
-- statement are new.
create or replace function record_of(row_name text, relation oid, slug text, made text default null) returns text language sql stable
set search_path from current as $$
	select format('(''{"id":'' || to_json(%1$I.id)::text || '',"version":'' || %1$I.version::text || %2$L || %3$s || '',"updatedAt":'' || %4$s',
			row_name, ',"tableSlug":' || to_json(slug) || ',"createdAt":',
			coalesce(made, json_text(row_name, 'created_at', 'timestamptz'::regtype)),
			coalesce(made, json_text(row_name, 'updated_at', 'timestamptz'::regtype)))
		|| coalesce(string_agg(format(' || %L || %s', ',' || to_json(name::text) || ':', json_text(row_name, name, type)), '' order by place), '')
		|| ' || ''}'')'
	from own_columns(relation)
$$;

-- The names of the fields of a record that `condition`, SQL with the column's name for %1$I, holds for, as SQL that gives a text.
create or replace function fields_where(relation oid, condition text, always text[]) returns text language sql stable
set search_path from current as $$
	select format('(%L', rtrim(array_to_json(always)::text, ']'))
		|| coalesce(string_agg(format(' || case when %s then %L else '''' end', coalesce(format(condition, name), column_differs('o', 'n', name, type)),
			',' || to_json(name::text)), '' order by place), '')
		|| ' || '']'')'
	from own_columns(relation)
$$;

-- What people see of a record on events: a name or title, else its first text, else its id; as SQL.
create or replace function display_of(row_name text, relation oid) returns text language sql stable
set search_path from current as $$
	select coalesce((
		select format('coalesce(nullif(left(%1$I.%2$I, 200), ''''), %1$I.id)', row_name, name)
		from own_columns(relation) where type in ('text'::regtype, 'varchar'::regtype)
		order by array_position(array['name', 'title', 'label', name::text], name::text), place limit 1
	), format('%I.id', row_name))
$$;

-- Makes, or makes anew, the functions that capture a table, by the columns it has now. What runs for each statement or row is
-- expressions alone: a function in SQL would be parsed and planned again each time, and every call sets search_path. Bodies are
-- quoted as literals: columns that a migration makes have any name.
create or replace function make_capture(id text) returns void language plpgsql
set search_path from current as $$
declare
	captured captured_tables;
	space spaces;
	base text := 't_' || lower(split_part(id, '_', 2));
	touched text;
	declares text;
	begins text;
	appends text;
	body text;
	secured text := 'security definer set search_path = database_studio, pg_temp set plan_cache_mode = force_generic_plan';
begin
	select * into strict captured from captured_tables c where c.table_id = id;
	select * into strict space from spaces s where s.id = captured.space_id;
	select coalesce(string_agg(column_differs('old', 'new', name, type), ' or '), 'false') into touched
	from own_columns(captured.relation) where not generated;

	-- Has no operator, nor a name that is not qualified, and so needs no search_path of its own.
	execute format('create or replace function capture.%I() returns trigger language plpgsql as %L', base || '_made', $f$
		begin
			new.version := 1;
			new.created_at := pg_catalog.now();
			new.updated_at := new.created_at;
			return new;
		end $f$);
	body := format($f$
		begin
			if new.id is distinct from old.id then
				raise exception 'the id of a record never changes' using errcode = 'integrity_constraint_violation';
			end if;
			new.created_at := old.created_at;
			if %1$s then
				new.version := old.version + 1;
				new.updated_at := greatest(now(), old.updated_at);
			else
				new.version := old.version;
				new.updated_at := old.updated_at;
			end if;
			return new;
		end $f$,
		touched);
	execute format('create or replace function capture.%I() returns trigger language plpgsql set search_path = pg_catalog as %L', base || '_touch', body);

	declares := $f$
			acting json;
			actor json;
			request_id text;
			causation_id text;
			source json;
			defined integer;
			at timestamptz := clock_timestamp();
			ms bigint := extract(epoch from at) * 1000;
			prefix text := 'evt_'$f$
		|| (select string_agg(format(' || substr(''0123456789ABCDEFGHJKMNPQRSTVWXYZ'', ((ms >> %s) & 31)::integer + 1, 1)', digit * 5), '' order by digit desc)
			from generate_series(0, 9) digit)
		|| $f$ || upper(substr(replace(gen_random_uuid()::text, '-', ''), 23, 10));$f$;
	-- Who acts, by the proof this session has given for this transaction; and whether by the definition as it is.
	begins := format($f$
			if to_regclass(to_char(at at time zone 'UTC', '"events_"YYYYMM')) is null then
				perform add_event_month((at at time zone 'UTC')::date);
			end if;
			select p.acting, c.version into acting, defined
			from captured_tables c left join plane_sessions p on p.pid = pg_backend_pid() and p.xid = pg_current_xact_id() where c.table_id = %1$L;
			if acting is null then
				acting := acts_unproved();
			end if;
			if (acting->'definitions'->>%1$L)::integer <> defined then
				raise exception 'the definition of the table has changed' using errcode = 'object_not_in_prerequisite_state';
			end if;
			actor := coalesce(acting->'actor', '{"id":"system","name":"Opsplane","type":"system"}');
			request_id := acting->>'requestId';
			causation_id := acting->>'causationId';
			source := case when json_typeof(acting->'source') = 'object' then acting->'source' end;$f$, id);

	-- Rows arrive as r: number, id, version, display, who is said to have made this one, and as JSON before, after and changes.
	-- One statement draws the positions, so that whoever reads the log knows from the lock on the outbox that there is more to come.
	appends := format($f$
			appended as (
				insert into events (id, stream_type, stream_id, version, type, workspace_id, environment, actor, resource, data,
					request_id, causation_id, source, created_at)
				select prefix || lpad(upper(to_hex(r.number)), 6, '0'), 'record', %1$L || r.id, r.version, kind, %2$L, %3$L, coalesce(r.said->'actor', actor),
					('{"type":"record","id":' || to_json(r.id)::text || ',"displayName":' || to_json(r.display)::text || '}')::json,
					('{"before":' || r.before || ',"after":' || r.after || ',"changes":' || r.changes || %4$L)::json,
					case when r.said is null then request_id else r.said->>'requestId' end,
					case when r.said is null then causation_id else r.said->>'causationId' end,
					case when r.said is null then source when json_typeof(r.said->'source') = 'object' then r.said->'source' end, now()
				from r returning position, id)
			insert into outbox (position, workspace_id, event_id) select position, %2$L, id from appended;
			return null;
		end $f$, id || '/', space.workspace_id, space.environment, ',"tableSlug":' || to_json(captured.slug) || '}');

	-- Columns are named by their row: a name alone is a variable, whatever the table has.
	body := format($f$
		#variable_conflict use_variable
		declare
			kind text := 'record.created';
			used text;
			made text := to_char(now()::timestamptz(3) at time zone 'UTC', '"\""YYYY-MM-DD"T"HH24:MI:SS.MS"Z\""');%6$s
		begin
			select n.id into used from new_rows n
			where exists (select from stream_heads h where h.stream_id = %1$L || n.id) limit 1;
			if used is not null then
				raise exception 'the id %% was that of a record before', used using errcode = 'unique_violation';
			end if;%7$s
			with r as (
				select row_number() over () as number, n.id, n.version, %2$s as display, a.value as said, 'null' as before,
					case when octet_length(v.record) <= 262144 then v.record else checked_record(v.record, n.id) end as after, %3$s as changes
				from new_rows n left join json_each(acting->'records') a on a.key = n.id cross join lateral (select %4$s as record offset 0) v),
			%5$s $f$,
		id || '/', display_of('n', captured.relation),
		fields_where(captured.relation, 'n.%1$I is not null', '{id,version,tableSlug,createdAt,updatedAt}'),
		record_of('n', captured.relation, captured.slug, 'made'), appends, declares, begins);
	execute format('create or replace function capture.%I() returns trigger language plpgsql %s set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as %L', base || '_insert', secured, body);

	body := format($f$
		declare
			kind text := 'record.updated';%6$s
		begin
			if not exists (select from new_rows) then
				return null;
			end if;%7$s
			with r as (
				select row_number() over () as number, n.id, n.version, %1$s as display, null::json as said, %2$s as before,
					case when octet_length(v.record) <= 262144 then v.record else checked_record(v.record, n.id) end as after, %3$s as changes
				from old_rows o join new_rows n on n.id = o.id cross join lateral (select %4$s as record offset 0) v
				where n.version <> o.version),
			%5$s $f$,
		display_of('n', captured.relation), record_of('o', captured.relation, captured.slug),
		fields_where(captured.relation, null, '{version,updatedAt}'), record_of('n', captured.relation, captured.slug), appends,
		declares, begins);
	execute format('create or replace function capture.%I() returns trigger language plpgsql %s set enable_nestloop = off set enable_mergejoin = off as %L', base || '_update', secured, body);

	body := format($f$
		declare
			kind text := 'record.deleted';%8$s
		begin
			if not exists (select from old_rows) then
				return null;
			end if;%9$s
			-- The row was the head of its stream; where there is none any more, this says where the stream has ended.
			insert into stream_heads (stream_id, stream_type, workspace_id, environment, version, ended)
			select %1$L || o.id, 'record', %2$L, %3$L, o.version + 1, true from old_rows o;
			with r as (
				select row_number() over () as number, o.id, o.version + 1 as version, %4$s as display, null::json as said, %5$s as before,
					'null' as after, %6$s as changes
				from old_rows o),
			%7$s $f$,
		id || '/', space.workspace_id, space.environment, display_of('o', captured.relation),
		record_of('o', captured.relation, captured.slug),
		fields_where(captured.relation, 'o.%1$I is not null', '{id,version,tableSlug,createdAt,updatedAt}'), appends,
		declares, begins);
	execute format('create or replace function capture.%I() returns trigger language plpgsql %s as %L', base || '_delete', secured, body);
end
$$;

create or replace function capture.refuse_truncate() returns trigger language plpgsql set search_path = pg_catalog as $$
begin
	raise exception 'a table cannot be truncated, as its history would not say so: delete its rows' using errcode = 'insufficient_privilege';
end
$$;

-- Whether all triggers that capture a table are there and fire always.
create or replace function is_captured(relation oid) returns boolean language sql stable
set search_path from current as $$
	select count(*) = 6 from pg_trigger t join pg_proc p on p.oid = t.tgfoid
	where t.tgrelid = relation and t.tgenabled = 'A' and p.pronamespace = 'capture'::regnamespace
		and t.tgname = any('{opsplane_made,opsplane_touch,opsplane_insert,opsplane_update,opsplane_delete,opsplane_truncate}')
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
	execute format('create trigger opsplane_made before insert on %s for each row execute function capture.%I()', target, base || '_made');
	execute format('create trigger opsplane_touch before update on %s for each row execute function capture.%I()', target, base || '_touch');
	execute format('create trigger opsplane_insert after insert on %s referencing new table as new_rows for each statement execute function capture.%I()', target, base || '_insert');
	execute format('create trigger opsplane_update after update on %s referencing old table as old_rows new table as new_rows for each statement execute function capture.%I()', target, base || '_update');
	execute format('create trigger opsplane_delete after delete on %s referencing old table as old_rows for each statement execute function capture.%I()', target, base || '_delete');
	execute format('create trigger opsplane_truncate before truncate on %s for each statement execute function capture.refuse_truncate()', target);
	foreach op in array '{made,touch,insert,update,delete,truncate}'::text[] loop
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
	foreach op in array '{made,touch,insert,update,delete}'::text[] loop
		execute format('drop function if exists capture.%I()', 't_' || lower(split_part(id, '_', 2)) || '_' || op);
	end loop;
end
$$;

revoke execute on all functions in schema database_studio, capture from public;
grant execute on all functions in schema database_studio to :service;
-- Every table is captured by the functions as they are written here.
do $$ declare
	id text;
begin
	for id in select table_id from captured_tables c where exists (select from pg_class where oid = c.relation) loop
		perform make_capture(id);
	end loop;
end $$;
