-- What a table is in the catalogue of Postgres, and what it was when its definition was last written: definitions follow
-- what has changed in between. See ADR 056.

create or replace function table_shape(relation oid) returns jsonb language sql stable
set search_path from current as $$
	select jsonb_build_object(
		'oid', c.oid::bigint,
		'name', c.relname,
		'comment', obj_description(c.oid, 'pg_class'),
		'columns', coalesce((
			select jsonb_agg(jsonb_build_object(
				'name', a.attname,
				'type', format_type(a.atttypid, a.atttypmod),
				'values', (select jsonb_agg(e.enumlabel order by e.enumsortorder) from pg_enum e where e.enumtypid = a.atttypid),
				'notNull', a.attnotnull,
				-- What an identity is filled by is no default to Postgres.
				'default', coalesce(pg_get_expr(d.adbin, d.adrelid), (
					select format('nextval(%L::regclass)', quote_ident(s.relname)) from pg_depend p join pg_class s on s.oid = p.objid
					where a.attidentity <> '' and p.classid = 'pg_class'::regclass and p.refclassid = 'pg_class'::regclass
						and p.refobjid = a.attrelid and p.refobjsubid = a.attnum and s.relkind = 'S'
				)),
				'generated', a.attgenerated <> '',
				'identity', a.attidentity <> '',
				'comment', col_description(c.oid, a.attnum)
			) order by a.attnum)
			from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
			where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
		), '[]'),
		'constraints', coalesce((
			select jsonb_agg(jsonb_build_object(
				'name', k.conname,
				'type', k.contype,
				'columns', (
					select coalesce(jsonb_agg(a.attname order by u.place), '[]')
					from unnest(k.conkey) with ordinality u (number, place)
					join pg_attribute a on a.attrelid = c.oid and a.attnum = u.number
				),
				'definition', pg_get_constraintdef(k.oid),
				'expression', pg_get_expr(k.conbin, k.conrelid),
				'references', (select r.relname from pg_class r where r.oid = k.confrelid and r.relnamespace = c.relnamespace),
				'referred', (
					select jsonb_agg(jsonb_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod)) order by u.place)
					from unnest(k.confkey) with ordinality u (number, place)
					join pg_attribute a on a.attrelid = k.confrelid and a.attnum = u.number
				),
				'onDelete', k.confdeltype
			) order by k.conname)
			-- Not null is what columns say.
			from pg_constraint k where k.conrelid = c.oid and k.contype in ('p', 'u', 'f', 'c', 'x')
		), '[]'),
		'indexes', coalesce((
			select jsonb_agg(jsonb_build_object(
				'name', n.relname,
				'definition', regexp_replace(pg_get_indexdef(i.indexrelid), ' ON \S+ ', ' ON '),
				'unique', i.indisunique,
				'valid', i.indisvalid,
				'method', m.amname,
				'plain', i.indpred is null and i.indexprs is null,
				'trigram', exists (select from unnest(i.indclass::oid[]) o join pg_opclass p on p.oid = o where p.opcname = 'gin_trgm_ops'),
				'columns', (
					select jsonb_agg(jsonb_build_object('name', a.attname, 'descending', (i.indoption[place - 1] & 1) = 1) order by place)
					from unnest(i.indkey::smallint[]) with ordinality u (number, place)
					left join pg_attribute a on a.attrelid = c.oid and a.attnum = u.number and u.number > 0
				)
			) order by n.relname)
			from pg_index i join pg_class n on n.oid = i.indexrelid join pg_am m on m.oid = n.relam
			where i.indrelid = c.oid and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x'))
		), '[]'),
		'triggers', coalesce((
			select jsonb_agg(jsonb_build_object('name', t.tgname, 'enabled', t.tgenabled, 'call', t.tgfoid::regproc::text) order by t.tgname)
			from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal
		), '[]')
	)
	from pg_class c where c.oid = relation
$$;

-- By the id of the table's definition.
create table if not exists table_shapes (
	table_id text primary key,
	shape jsonb not null
);
grant select on table_shapes to :service;

-- The shapes of all captured tables of a space as they are now.
create or replace function space_shapes(id text) returns jsonb language sql stable
set search_path from current as $$
	select coalesce(jsonb_object_agg(c.table_id, table_shape(c.relation)), '{}')
	from captured_tables c join pg_class r on r.oid = c.relation join spaces s on s.id = c.space_id
	where c.space_id = space_shapes.id and r.relnamespace = s.schema_name::regnamespace
$$;

-- Keeps them: what is now is explained by definitions and migrations.
create or replace function keep_shapes(id text) returns void language sql
security definer set search_path from current as $$
	insert into table_shapes (table_id, shape) select key, value from jsonb_each(space_shapes(id))
	on conflict (table_id) do update set shape = excluded.shape where table_shapes.shape is distinct from excluded.shape;
	-- Whoever goes by a definition goes by this one from now on.
	update captured_tables c set version = t.version from tables t
	where t.id = c.table_id and c.space_id = keep_shapes.id and c.version = -1
$$;

-- Shapes that were kept before they said what a foreign key refers to say it from now on.
update table_shapes s set shape = n.shape
from (select c.table_id, table_shape(c.relation) as shape from captured_tables c join pg_class r on r.oid = c.relation) n
where n.table_id = s.table_id and s.shape <> n.shape
	and s.shape = jsonb_set(n.shape, '{constraints}', (
		select coalesce(jsonb_agg(k - 'referred' order by place), '[]') from jsonb_array_elements(n.shape->'constraints') with ordinality c (k, place)));

-- Keeps the shape of a table whose definition was written, as it is when that is committed. Whoever writes rows goes by this
-- definition from then on, unless a migration has changed the table and the definition does not say so yet.
create or replace function keep_table_shape() returns trigger language plpgsql
security definer set search_path from current as $$
begin
	insert into table_shapes (table_id, shape)
	select c.table_id, table_shape(c.relation) from captured_tables c join pg_class r on r.oid = c.relation
	where c.table_id = new.id and new.state->>'purgeAt' is null
	on conflict (table_id) do update set shape = excluded.shape where table_shapes.shape is distinct from excluded.shape;
	update captured_tables c set version = new.version where c.table_id = new.id and c.version not in (-1, new.version);
	return null;
end
$$;

drop trigger if exists keep_table_shape on tables;
create constraint trigger keep_table_shape after insert or update on tables
deferrable initially deferred for each row execute function keep_table_shape();

-- The run of a migration that this session is, by the token its service has given it; no other session gets past this while
-- the transaction lasts.
create or replace function run_of(token text) returns migration_runs language plpgsql
set search_path from current as $$
declare
	run migration_runs;
begin
	select r.* into run from migration_runs r join spaces s on s.id = r.space_id
	where r.token_hash = encode(sha256(convert_to(token, 'UTF8')), 'hex') and r.done_at is null
		and session_user = space_role(s.schema_name, 'migrator')
	for update of r;
	if not found then
		raise exception 'this session runs no migration' using errcode = 'insufficient_privilege';
	end if;
	return run;
end
$$;

create or replace function studio.begin_migration(token text) returns void language plpgsql
security definer set search_path from current as $$
begin
	perform run_of(token);
end
$$;

-- Gives a table that a migration has made what every table has: the base columns, and the capture of its rows.
create or replace function adopt_table(schema_name text, relation oid, table_name text) returns void language plpgsql
set search_path from current as $$
declare
	target text := format('%I.%I', schema_name, table_name);
	-- As definitions call it.
	id_form text := left(table_name || '_id', 54) || '_form';
	base record;
	found_type text;
begin
	for base in select * from (values
		('id', 'text', 'primary key default studio.new_record_id()'),
		('version', 'integer', 'not null'),
		('created_at', 'timestamp(3) with time zone', 'not null'),
		('updated_at', 'timestamp(3) with time zone', 'not null')) v (name, type, rest)
	loop
		select format_type(atttypid, atttypmod) into found_type from pg_attribute
		where attrelid = relation and attname = base.name and not attisdropped;
		if not found then
			if base.name = 'id' and exists (select from pg_constraint where conrelid = relation and contype = 'p') then
				raise exception 'the primary key of table % is not id', table_name using errcode = 'invalid_table_definition',
					hint = 'Every table has the column id as its primary key by itself: make other keys unique.';
			end if;
			execute format('alter table %s add column %I %s %s', target, base.name, base.type, base.rest);
		elsif found_type <> base.type then
			raise exception 'column % of table % is of type %', base.name, table_name, found_type using errcode = 'invalid_table_definition',
				hint = 'Every table has the columns id, version, created_at and updated_at by itself: leave them out.';
		end if;
	end loop;
	if not exists (select from pg_constraint k where k.conrelid = relation and k.contype = 'p'
		and pg_get_constraintdef(k.oid) = 'PRIMARY KEY (id)') then
		raise exception 'the primary key of table % is not id', table_name using errcode = 'invalid_table_definition';
	end if;
	if not exists (select from pg_constraint k where k.conrelid = relation and k.conname = id_form) then
		execute format('alter table %s add constraint %I check (octet_length(id) = 30
			and rtrim(convert_to(id, ''UTF8''), ''0123456789ABCDEFGHJKMNPQRSTVWXYZ''::bytea) = ''rec_''::bytea)', target, id_form);
	end if;
	perform attach_capture('tbl_' || ulid_time(floor(extract(epoch from clock_timestamp()) * 1000)::bigint)
		|| upper(substr(replace(gen_random_uuid()::text, '-', ''), 17, 16)), schema_name, table_name, table_name, -1);
end
$$;

-- Refuses names of columns that records, filters and sorts could not be written with; definitions have the same rule.
create or replace function check_column_names(relation oid, table_name name) returns void language plpgsql
set search_path from current as $$
declare
	wrong name;
begin
	select c.name into wrong from own_columns(relation) c
	where c.name ~ '^[-~]|[.,"[:cntrl:]]' or c.name in ('table_slug', 'and', 'or', 'not', 'createdAt', 'updatedAt', 'tableSlug', '__proto__');
	if found then
		raise exception 'a column of table % cannot be called %', table_name, wrong using errcode = 'invalid_name',
			hint = 'Names of columns do not begin with - or ~ and have no . , " or control characters; table_slug, and, or, not, createdAt, updatedAt, tableSlug and __proto__ are reserved.';
	end if;
end
$$;

-- After each statement that changes what there is: tables that are new are adopted, and those that have changed in this
-- transaction are captured as they are now.
create or replace function studio.migration_step(token text) returns void language plpgsql
security definer set search_path from current as $$
declare
	space spaces;
	this_xid text := (pg_current_xact_id()::text::numeric % 4294967296)::text;
	changed record;
begin
	select s.* into space from spaces s where s.id = (run_of(token)).space_id;
	for changed in
		select c.oid, c.relname, t.table_id from pg_class c left join captured_tables t on t.relation = c.oid
		where c.relnamespace = space.schema_name::regnamespace and c.relkind = 'r'
			and (t.table_id is null or c.xmin::text = this_xid
				or exists (select from pg_attribute a where a.attrelid = c.oid and a.xmin::text = this_xid))
	loop
		if changed.relname !~ '^[a-z][a-z0-9_]{0,58}$' or changed.relname in ('batch', 'trash') then
			raise exception 'a table cannot be called %', changed.relname using errcode = 'invalid_name',
				hint = 'Names of tables are lower-case letters, digits and _, begin with a letter, and have at most 59 characters; batch and trash are reserved.';
		end if;
		if changed.table_id is null then
			perform adopt_table(space.schema_name, changed.oid, changed.relname);
		else
			-- No definition there is yet says what it is now.
			perform attach_capture(changed.table_id, space.schema_name, changed.relname, changed.relname, -1);
		end if;
	end loop;
end
$$;

-- Why changes of rows would go past the journal; null where none would.
create or replace function capture_fault(space spaces) returns text language sql stable
set search_path from current as $$
	select string_agg(fault, '; ' order by fault) from (
		select format('table %s is not captured', c.relname) as fault
		from pg_class c where c.relnamespace = space.schema_name::regnamespace and c.relkind in ('r', 'p')
			and not is_captured(c.oid)
		union all
		select format('table %s has a trigger of its own, %s', c.relname, t.tgname)
		from pg_class c join pg_trigger t on t.tgrelid = c.oid
		where c.relnamespace = space.schema_name::regnamespace and not t.tgisinternal and t.tgname not like 'opsplane\_%'
		union all
		select format('table %s lacks what every table has', c.relname)
		from pg_class c where c.relnamespace = space.schema_name::regnamespace and c.relkind = 'r'
			and (not exists (select from pg_constraint k where k.conrelid = c.oid and k.contype = 'p' and pg_get_constraintdef(k.oid) = 'PRIMARY KEY (id)')
				or (select count(*) from pg_attribute a where a.attrelid = c.oid and a.attnotnull and not a.attisdropped and (a.attname, format_type(a.atttypid, a.atttypmod)) in (
					('id', 'text'), ('version', 'integer'), ('created_at', 'timestamp(3) with time zone'), ('updated_at', 'timestamp(3) with time zone'))) <> 4)
		union all
		select format('table %s has rules, row security or parts', c.relname)
		from pg_class c where c.relnamespace = space.schema_name::regnamespace and c.relkind in ('r', 'p')
			and (c.relhasrules or c.relrowsecurity or c.relhassubclass or c.relispartition or c.relkind = 'p' or c.relpersistence <> 'p')
		union all
		select format('%s is no table', c.relname)
		from pg_class c where c.relnamespace = space.schema_name::regnamespace and c.relkind in ('v', 'm', 'f')
		union all
		select format('%s is a function', p.proname) from pg_proc p where p.pronamespace = space.schema_name::regnamespace
	) faults
$$;

-- Called last: from its commit on the migration has been applied. Refuses what would let rows change without the journal.
create or replace function studio.finish_migration(token text) returns void language plpgsql
security definer set search_path from current as $$
declare
	run migration_runs := run_of(token);
	space spaces;
	fault text;
begin
	perform studio.migration_step(token);
	select s.* into space from spaces s where s.id = run.space_id;
	-- Only now: on the way columns that exchange their names have others.
	perform check_column_names(c.relation, r.relname) from captured_tables c join pg_class r on r.oid = c.relation
	where c.space_id = space.id and c.version = -1 and r.relnamespace = space.schema_name::regnamespace;
	fault := capture_fault(space);
	if fault is not null then
		raise exception '%', fault using errcode = 'insufficient_privilege', hint = 'Changes of rows could go past the history.';
	end if;
	update migration_runs r set done_at = clock_timestamp(), due_at = clock_timestamp() where r.space_id = run.space_id;
end
$$;

-- What DROP TABLE does in a migration: tables go where they can be restored from. One that the same migration has made, which no
-- definition speaks of, is dropped for good.
create or replace function studio.drop_tables(token text, names json, cascades boolean, may_lack boolean) returns void language plpgsql
security definer set search_path from current as $$
declare
	space spaces;
	relations oid[];
	it record;
begin
	select s.* into space from spaces s where s.id = (run_of(token)).space_id;
	for it in select n.name, c.oid from json_array_elements_text(names) n (name)
		left join pg_class c on c.relname = n.name and c.relnamespace = space.schema_name::regnamespace and c.relkind = 'r'
	loop
		if it.oid is not null then
			relations := relations || it.oid;
		elsif not may_lack then
			raise exception 'table "%" does not exist', it.name using errcode = 'undefined_table';
		end if;
	end loop;
	for it in select k.conname, r.relname as referring, t.relname as referred from pg_constraint k
		join pg_class r on r.oid = k.conrelid join pg_class t on t.oid = k.confrelid
		where k.contype = 'f' and k.confrelid = any (relations) and k.conrelid <> all (relations)
	loop
		if not cascades then
			raise exception 'cannot drop table % because other objects depend on it', it.referred using errcode = 'dependent_objects_still_exist',
				detail = format('constraint %s on table %s depends on table %s', it.conname, it.referring, it.referred),
				hint = 'Use DROP ... CASCADE to drop the dependent objects too.';
		end if;
		execute format('alter table %I.%I drop constraint %I', space.schema_name, it.referring, it.conname);
	end loop;
	for it in select r.relname, t.id from pg_class r left join captured_tables c on c.relation = r.oid
		left join tables t on t.id = c.table_id and t.purge_at is null where r.oid = any (relations)
	loop
		if it.id is null then
			execute format('drop table %I.%I cascade', space.schema_name, it.relname);
		else
			perform put_in_trash(it.id);
		end if;
	end loop;
end
$$;

-- Before DROP TYPE: what tables in the trash have of the types is text from then on, as whoever drops a type does not know of them.
create or replace function studio.free_types(token text, names json) returns void language plpgsql
security definer set search_path from current as $$
declare
	space spaces;
	used record;
begin
	select s.* into space from spaces s where s.id = (run_of(token)).space_id;
	for used in select c.relation::regclass as relation, a.attname, case when t.typelem = 0 then 'text' else 'text[]' end as type
		from captured_tables c join pg_class r on r.oid = c.relation
		join pg_attribute a on a.attrelid = c.relation and a.attnum > 0 and not a.attisdropped
		join pg_type t on t.oid = a.atttypid join pg_type e on e.oid = case when t.typelem = 0 then t.oid else t.typelem end
		where c.space_id = space.id and r.relnamespace = (space.schema_name || '_trash')::regnamespace
			and e.typnamespace = space.schema_name::regnamespace and e.typname in (select json_array_elements_text(names))
	loop
		execute format('alter table %s alter column %I type %s using %2$I::%3$s', used.relation, used.attname, used.type);
	end loop;
end
$$;

-- The index of this name, quoted, if a run that was interrupted has left it unfinished.
create or replace function studio.unfinished_index(token text, index_name text) returns text language plpgsql
security definer set search_path from current as $$
declare
	run migration_runs := run_of(token);
begin
	return (select format('%I', c.relname) from pg_index i join pg_class c on c.oid = i.indexrelid join spaces s on s.id = run.space_id
		where c.relnamespace = s.schema_name::regnamespace and c.relname = index_name and not i.indisvalid);
end
$$;

-- For a dry run, what it would leave.
create or replace function studio.migration_shapes(token text) returns jsonb language plpgsql
security definer set search_path from current as $$
begin
	return space_shapes((run_of(token)).space_id);
end
$$;

-- For a dry run, the locks of tables and indexes this session holds.
create or replace function studio.migration_locks(token text) returns jsonb language plpgsql
security definer set search_path from current as $$
declare
	run migration_runs := run_of(token);
begin
	-- What has just been dropped is in the catalogue no more.
	return (select coalesce(jsonb_agg(distinct jsonb_build_object('name', case when c.relnamespace = s.schema_name::regnamespace then c.relname else t.slug end, 'mode', l.mode)), '[]')
		from pg_locks l join spaces s on s.id = run.space_id
		left join pg_class c on c.oid = l.relation left join captured_tables t on t.relation = l.relation
		where l.pid = pg_backend_pid() and l.locktype = 'relation'
			and (c.relnamespace = s.schema_name::regnamespace or t.space_id = s.id));
end
$$;

revoke execute on all functions in schema database_studio from public;
grant execute on function table_shape, space_shapes, keep_shapes, capture_fault, put_in_trash to :service;
revoke execute on function studio.begin_migration, studio.migration_step, studio.finish_migration, studio.migration_shapes, studio.migration_locks, studio.unfinished_index, studio.drop_tables, studio.free_types from public;
grant execute on function studio.begin_migration, studio.migration_step, studio.finish_migration, studio.migration_shapes, studio.migration_locks, studio.unfinished_index, studio.drop_tables, studio.free_types to :tenant;
