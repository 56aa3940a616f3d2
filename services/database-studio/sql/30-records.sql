-- Answers to requests with an Idempotency-Key, kept in the transaction of their effect. See ADR 053.

-- Keeps the answer to the one key that the proof of who acts names: tenants have no proof with a key. False when it is kept
-- already.
create or replace function studio.keep_answer(fingerprint text, status integer, body json, headers json) returns boolean
language plpgsql security definer set search_path from current as $$
declare
	named text;
begin
	select s.acting->>'keeps' into named from plane_sessions s
	where s.pid = pg_backend_pid() and s.role = session_user and s.xid = pg_current_xact_id();
	if named is null then
		raise exception 'this transaction keeps no answer' using errcode = 'insufficient_privilege';
	end if;
	insert into idempotency_keys as k (key, fingerprint, status, body, headers)
	values (named, keep_answer.fingerprint, keep_answer.status, keep_answer.body, keep_answer.headers)
	on conflict (key) do nothing;
	return found;
end
$$;

grant execute on function studio.keep_answer to :tenant;

-- Whether a text of the journal can be read as a value of a type that records have: a column may have had another one then.
-- Null for null. What it names is of pg_catalog, so it needs no search_path of its own.
create or replace function reads_as(value text, type text) returns boolean language plpgsql stable strict as $$
begin
	return case type
		when 'int4' then value::int4::text
		when 'int8' then value::int8::text
		when 'numeric' then value::numeric::text
		when 'bool' then value::bool::text
		when 'date' then value::date::text
		when 'timestamptz' then value::timestamptz::text
		when 'float8' then value::float8::text
		when 'time' then value::time::text
		when 'timestamp' then value::timestamp::text
		when 'interval' then value::interval::text
		when 'text[]' then value::text[]::text
		when 'int4[]' then value::int4[]::text
		when 'int8[]' then value::int8[]::text
		when 'numeric[]' then value::numeric[]::text
		when 'float8[]' then value::float8[]::text
		when 'bool[]' then value::bool[]::text
		when 'date[]' then value::date[]::text
		when 'time[]' then value::time[]::text
		when 'timestamptz[]' then value::timestamptz[]::text
		when 'timestamp[]' then value::timestamp[]::text
		when 'interval[]' then value::interval[]::text
		when 'uuid[]' then value::uuid[]::text
		when 'jsonb' then value::jsonb::text
		when 'uuid' then value::uuid::text
		else value
	end is not null;
exception when data_exception then
	return false;
end
$$;
revoke execute on function reads_as from public;
grant execute on function reads_as to :service;
