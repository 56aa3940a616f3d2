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

grant execute on function studio.keep_answer to studio_tenant;
