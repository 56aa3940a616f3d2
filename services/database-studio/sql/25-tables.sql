-- What changes of tables ask of their rows, and the trash.

-- A type of columns, as a definition writes it; anything else is refused, as it becomes part of a statement.
create or replace function studio.column_type(type text) returns text language plpgsql immutable
set search_path = pg_catalog as $$
begin
	if type !~ '^(text|varchar\(\d+\)|integer|bigint|numeric|numeric\(\d+, \d+\)|double precision|boolean|date|time|timestamptz\(3\)|timestamp\(3\)|interval|jsonb|uuid)(\[\])?$' then
		raise exception 'not a type of columns: %', type using errcode = 'invalid_parameter_value';
	end if;
	return type;
end
$$;

-- Whether a text can be read as a value of a type.
create or replace function studio.is_readable(value text, type text) returns boolean language plpgsql immutable
set search_path = pg_catalog as $$
declare
	statement text := format('select ($1)::%s', studio.column_type(type));
begin
	execute statement using value;
	return true;
exception when data_exception or integrity_constraint_violation or program_limit_exceeded then
	return false;
end
$$;

-- What a text is once it was read as one type, and that as another; null where it cannot be.
create or replace function studio.reread(value text, type text, back text) returns text language plpgsql immutable
set search_path = pg_catalog as $$
declare
	statement text := format('select ($1)::%s::text::%s::text', studio.column_type(type), studio.column_type(back));
	result text;
begin
	execute statement into result using value;
	return result;
exception when data_exception or integrity_constraint_violation or program_limit_exceeded then
	return null;
end
$$;

-- A text without its accents and in lower case. Letters that Unicode does not take apart are replaced one by one.
create or replace function studio.folded(value text) returns text language sql immutable parallel safe
return replace(replace(replace(
	translate(lower(regexp_replace(normalize(value, NFKD), '[\u0300-\u036f]', '', 'g')), 'øłđıħ', 'oldih'), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe');

-- Scripts that put no spaces between words (Thai, Lao, Burmese, Khmer, Chinese, Japanese, Korean) as overlapping pairs of characters,
-- with the first and the last one by itself, as itsm stores them: queries ask for a phrase of pairs (`libs/postgres/src/text-search.ts`,
-- with the same ranges). A text of ASCII alone is passed on at once.
create or replace function studio.spaceless_pairs(value text) returns text language plpgsql immutable strict parallel safe
set search_path = pg_catalog as $$
begin
	if octet_length(value) = char_length(value) or value !~ '[\u0E00-\u0EFF\u1000-\u109F\u1100-\u11FF\u1780-\u17FF\u3040-\u312F\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF\U00020000-\U0003FFFF]' then
		return value;
	end if;
	return regexp_replace(regexp_replace(value, '([\u0E00-\u0EFF\u1000-\u109F\u1100-\u11FF\u1780-\u17FF\u3040-\u312F\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF\U00020000-\U0003FFFF]+)', ' \1 ', 'g'), '([\u0E00-\u0EFF\u1000-\u109F\u1100-\u11FF\u1780-\u17FF\u3040-\u312F\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF\U00020000-\U0003FFFF])', '\1 \1', 'g');
end
$$;

-- The words of a text, which full-text indexes are over: without accents, in lower case, and apart at everything but letters and digits.
create or replace function studio.search_words(value text) returns tsvector language plpgsql immutable strict parallel safe
set search_path = pg_catalog as $$
begin
	return to_tsvector('simple', regexp_replace(
		normalize(studio.folded(studio.spaceless_pairs(normalize(value, NFKC))), NFC), '[!-/:-@\[-`{-~]+', ' ', 'g'));
end
$$;

-- What is asked of them, in the syntax of `websearch_to_tsquery`, and whether the last word may go on.
create or replace function studio.search_query(words text, goes_on boolean) returns tsquery language plpgsql immutable strict parallel safe
set search_path = pg_catalog as $$
declare
	query tsquery := websearch_to_tsquery('simple', normalize(studio.folded(words), NFC));
begin
	return case when goes_on and numnode(query) > 0 then (query::text || ':*')::tsquery else query end;
end
$$;

revoke execute on function studio.folded, studio.spaceless_pairs, studio.search_words, studio.search_query from public;
grant execute on function studio.folded, studio.spaceless_pairs, studio.search_words, studio.search_query to :tenant, :service;

-- The indexes of tables in the trash, by the names they had: there no two may have one name.
create table if not exists trashed_names (
	table_id text not null,
	trashed text not null,
	name text not null,
	primary key (table_id, trashed)
);
grant select, insert, delete on trashed_names to :service;

-- Puts a table where only its owner finds it, under its id: without its foreign keys, and with indexes and sequences called
-- after it, as there may be others of their names there.
create or replace function put_in_trash(id text) returns void language plpgsql
security definer set search_path from current as $$
declare
	captured captured_tables;
	place text;
	trashed text := lower(id);
	part record;
begin
	select * into strict captured from captured_tables c where c.table_id = id;
	select r.relnamespace::regnamespace::text into strict place from pg_class r where r.oid = captured.relation;
	for part in select conname from pg_constraint where conrelid = captured.relation and contype = 'f' loop
		execute format('alter table %s drop constraint %I', captured.relation::regclass, part.conname);
	end loop;
	for part in select name, format('%s_%s', trashed, row_number() over (order by name) - 1) as called from (
		select r.relname as name from pg_index i join pg_class r on r.oid = i.indexrelid where i.indrelid = captured.relation
		union all
		select r.relname from pg_depend d join pg_class r on r.oid = d.objid
		where d.classid = 'pg_class'::regclass and d.refclassid = 'pg_class'::regclass and d.refobjid = captured.relation and r.relkind = 'S'
	) parts loop
		insert into trashed_names (table_id, trashed, name) values (id, part.called, part.name);
		execute format('alter index %s.%I rename to %I', place, part.name, part.called);
	end loop;
	execute format('alter table %s rename to %I', captured.relation::regclass, trashed);
	execute format('alter table %s.%I set schema %I', place, trashed, replace(place, '"', '') || '_trash');
end
$$;
revoke execute on function put_in_trash from public;
grant execute on function put_in_trash to :service;
revoke execute on function studio.column_type, studio.is_readable, studio.reread from public;
grant execute on function studio.column_type, studio.is_readable, studio.reread to :tenant;
