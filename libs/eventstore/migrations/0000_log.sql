-- The log of a service and what belongs to it: see ADR 036. The service's own tables come from its own migrations.

-- The ten digits in Crockford's base 32 that a ULID of this millisecond starts with.
CREATE FUNCTION ulid_time(ms bigint) RETURNS text LANGUAGE sql IMMUTABLE STRICT
SET search_path FROM CURRENT AS $$
	SELECT string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((ms >> (5 * digit)) & 31)::int + 1, 1), '' ORDER BY digit DESC)
	FROM generate_series(0, 9) digit
$$;
--> statement-breakpoint
-- The same of the first millisecond of a day (UTC).
CREATE FUNCTION ulid_start(day date) RETURNS text LANGUAGE sql IMMUTABLE STRICT
SET search_path FROM CURRENT AS $$ SELECT ulid_time((day - date '1970-01-01')::bigint * 86400000) $$;
--> statement-breakpoint
-- The day (UTC) of an id such as evt_<ULID>.
CREATE FUNCTION ulid_day(id text) RETURNS date LANGUAGE sql IMMUTABLE STRICT
SET search_path FROM CURRENT AS $$
	SELECT date '1970-01-01' + (sum(
		(strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(split_part(id, '_', 2), place, 1)) - 1)::bigint << (5 * (10 - place))
	)::bigint / 86400000)::int
	FROM generate_series(1, 10) place
$$;
--> statement-breakpoint
-- A new id of an event, for those that SQL writes.
CREATE FUNCTION new_event_id(at timestamp with time zone DEFAULT clock_timestamp()) RETURNS text LANGUAGE sql VOLATILE
SET search_path FROM CURRENT AS $$
	SELECT 'evt_' || ulid_time(floor(extract(epoch FROM at) * 1000)::bigint) || string_agg(
		substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (get_byte(bytes, place) & 31) + 1, 1), '')
	FROM (SELECT uuid_send(gen_random_uuid()) AS bytes) chance, generate_series(0, 15) place
$$;
--> statement-breakpoint
CREATE SEQUENCE events_position_seq;
--> statement-breakpoint
-- The log of record, in the order of `position`. JSON columns are json, not jsonb: what is read back has its fields in
-- the order they were written. The month in the id is the partition, so ids alone are unique over all of them;
-- `stream_heads` guards the versions.
CREATE TABLE events (
	id text CONSTRAINT events_pkey PRIMARY KEY,
	position bigint NOT NULL DEFAULT nextval('events_position_seq'),
	stream_type text NOT NULL,
	stream_id text NOT NULL,
	version integer NOT NULL,
	type text NOT NULL,
	workspace_id text NOT NULL,
	environment text NOT NULL,
	actor json NOT NULL,
	resource json NOT NULL,
	data json NOT NULL,
	sealed json,
	request_id text,
	causation_id text,
	source json,
	created_at timestamp(3) with time zone NOT NULL
) PARTITION BY RANGE (id);
--> statement-breakpoint
CREATE INDEX events_position_idx ON events (position);
--> statement-breakpoint
CREATE INDEX events_stream_idx ON events (stream_id, version);
--> statement-breakpoint
-- Serves lists as they were: a page walks the creations of a kind in order.
CREATE INDEX events_creations_idx ON events (workspace_id, environment, stream_type, created_at, stream_id) WHERE version = 1;
--> statement-breakpoint
-- Makes the partition of the month of a day, if need be, of a table that is partitioned by ids with this prefix: the
-- service's own role cannot make tables. It is made apart and then attached, which lets reads and writes of the other months
-- go on.
CREATE FUNCTION add_month(parent text, prefix text, day date) RETURNS void LANGUAGE plpgsql STRICT SECURITY DEFINER
SET search_path FROM CURRENT AS $$
DECLARE
	month date := date_trunc('month', day::timestamp);
	partition text := parent || to_char(month, '"_"YYYYMM');
BEGIN
	IF to_regclass(partition) IS NOT NULL THEN
		RETURN;
	END IF;
	-- Attaching takes this lock anyway; whoever has waited for it sees what was made meanwhile.
	EXECUTE format('LOCK TABLE %I IN SHARE UPDATE EXCLUSIVE MODE', parent);
	IF to_regclass(partition) IS NOT NULL THEN
		RETURN;
	END IF;
	EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING INDEXES)', partition, parent);
	EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, partition,
		prefix || ulid_start(month), prefix || ulid_start((month + interval '1 month')::date));
END
$$;
--> statement-breakpoint
CREATE FUNCTION add_event_month(day date) RETURNS void LANGUAGE sql STRICT
SET search_path FROM CURRENT AS $$ SELECT add_month('events', 'evt_', day) $$;
--> statement-breakpoint
-- One row for each stream there ever was, deleted ones included: alone it guards versions, and ids over all tenants.
CREATE TABLE stream_heads (
	stream_id text CONSTRAINT stream_heads_pkey PRIMARY KEY,
	-- The decider the events come from, named by its read-model table, or the journal.
	stream_type text NOT NULL,
	workspace_id text NOT NULL,
	environment text NOT NULL,
	version integer NOT NULL,
	-- Whether the last event has deleted the aggregate.
	ended boolean NOT NULL DEFAULT false
) WITH (fillfactor = 80);
--> statement-breakpoint
-- The kinds of streams that append_journal writes: they have no decider, and no read model that is folded from them.
CREATE TABLE journals (
	stream_type text CONSTRAINT journals_pkey PRIMARY KEY
);
--> statement-breakpoint
-- What waits for publication; a row goes once its event is acknowledged.
CREATE TABLE outbox (
	position bigint CONSTRAINT outbox_pkey PRIMARY KEY,
	workspace_id text NOT NULL,
	event_id text NOT NULL
);
--> statement-breakpoint
-- Who may do something alone, by the clock of the database.
CREATE TABLE leases (
	name text CONSTRAINT leases_pkey PRIMARY KEY,
	owner text NOT NULL,
	fence bigint NOT NULL,
	expires_at timestamp with time zone NOT NULL
);
--> statement-breakpoint
-- What the relay remembers of the stream: while the message at `sequence` is this one, everything up to `floor` is there,
-- and whatever was taken out of the outbox until then.
CREATE TABLE stream_marks (
	number bigint CONSTRAINT stream_marks_pkey PRIMARY KEY,
	-- When the stream was made, which tells it from another of its name.
	identity text NOT NULL,
	-- How often the stream has been filled again.
	generation integer NOT NULL,
	sequence bigint NOT NULL,
	message_id text,
	floor bigint NOT NULL,
	created_at timestamp(3) with time zone NOT NULL DEFAULT now()
) WITH (fillfactor = 50);
--> statement-breakpoint
-- Requests by Idempotency-Key.
CREATE TABLE idempotency_keys (
	key text CONSTRAINT idempotency_keys_pkey PRIMARY KEY,
	fingerprint text NOT NULL,
	-- The response's status; null while the request is in flight.
	status integer,
	body json,
	headers json,
	created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
	-- Until when a request in flight counts as alive.
	locked_until timestamp(3) with time zone,
	expires_at timestamp(3) with time zone NOT NULL DEFAULT now() + interval '24 hours'
);
--> statement-breakpoint
CREATE INDEX idempotency_keys_expires_idx ON idempotency_keys (expires_at);
--> statement-breakpoint
-- How far each consumer of the platform's events has come.
CREATE TABLE consumer_checkpoints (
	consumer text CONSTRAINT consumer_checkpoints_pkey PRIMARY KEY,
	stream_sequence bigint NOT NULL,
	event_id text NOT NULL,
	handled bigint NOT NULL,
	-- Up to which sequence of which stream it has acknowledged everything, for those that fill what they have missed.
	stream_created text,
	ack_floor bigint,
	started_at timestamp(3) with time zone NOT NULL DEFAULT now(),
	updated_at timestamp(3) with time zone NOT NULL DEFAULT now()
);
--> statement-breakpoint
-- Messages that were given up, as they came, with the reason.
CREATE TABLE dead_letters (
	id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT dead_letters_pkey PRIMARY KEY,
	consumer text NOT NULL,
	-- The event's id where the message carries one, else its place in the stream.
	message_id text NOT NULL,
	subject text NOT NULL,
	stream_sequence bigint NOT NULL,
	payload text NOT NULL,
	-- Where the event stands in the log of its service, when the message says so.
	source text,
	source_position bigint,
	error text NOT NULL,
	deliveries integer NOT NULL,
	created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
	-- When an operator asked for it to be handed to its consumer again; null once it has failed again.
	redriven_at timestamp(3) with time zone
);
--> statement-breakpoint
CREATE UNIQUE INDEX dead_letters_message_key ON dead_letters (consumer, message_id);
--> statement-breakpoint
CREATE INDEX dead_letters_redriven_idx ON dead_letters (consumer, redriven_at) WHERE redriven_at IS NOT NULL;
--> statement-breakpoint
-- Up to where each consumer has handled the log of each service without a gap; and, as `<consumer>/fill`, up to where it has
-- read that log while it fills what the stream has lost.
CREATE TABLE consumer_floors (
	consumer text NOT NULL,
	source text NOT NULL,
	position bigint NOT NULL,
	CONSTRAINT consumer_floors_pkey PRIMARY KEY (consumer, source)
);
--> statement-breakpoint
-- The last number given out per workspace and kind, such as the incident numbers of one workspace.
CREATE TABLE number_counters (
	workspace_id text NOT NULL,
	kind text NOT NULL,
	last bigint NOT NULL,
	CONSTRAINT number_counters_pkey PRIMARY KEY (workspace_id, kind)
);
--> statement-breakpoint
-- Appends an event to a journal, for triggers and machines; returns its position. Like every writer it has the head's row
-- and the outbox before it draws a position. The limit of the data is that of event-size.ts: what a message can carry.
CREATE FUNCTION append_journal(
	stream_type text, stream_id text, workspace_id text, environment text, type text,
	actor json, resource json, data json,
	request_id text DEFAULT NULL, causation_id text DEFAULT NULL, source json DEFAULT NULL,
	created_at timestamp with time zone DEFAULT clock_timestamp()
) RETURNS bigint LANGUAGE plpgsql
SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
	made_at timestamp with time zone := clock_timestamp();
	bytes integer := octet_length(append_journal.data::text);
	place bigint;
BEGIN
	IF bytes > 1040384 THEN
		RAISE EXCEPTION 'the data of % of % has % bytes', append_journal.type, append_journal.stream_id, bytes
			USING ERRCODE = 'program_limit_exceeded', HINT = 'An event may have at most 1040384 bytes of data.';
	END IF;
	PERFORM add_event_month((made_at AT TIME ZONE 'UTC')::date);
	IF NOT EXISTS (SELECT FROM journals j WHERE j.stream_type = append_journal.stream_type) THEN
		INSERT INTO journals VALUES (append_journal.stream_type) ON CONFLICT DO NOTHING;
	END IF;
	WITH head AS (
		INSERT INTO stream_heads AS h (stream_id, stream_type, workspace_id, environment, version)
		VALUES (append_journal.stream_id, append_journal.stream_type, append_journal.workspace_id, append_journal.environment, 1)
		ON CONFLICT ON CONSTRAINT stream_heads_pkey DO UPDATE SET version = h.version + 1
			WHERE h.stream_type = excluded.stream_type AND h.workspace_id = excluded.workspace_id AND h.environment = excluded.environment
		RETURNING h.version
	), appended AS (
		INSERT INTO events AS e (id, stream_type, stream_id, version, type, workspace_id, environment, actor, resource, data,
			request_id, causation_id, source, created_at)
		SELECT new_event_id(made_at), append_journal.stream_type, append_journal.stream_id, head.version, append_journal.type,
			append_journal.workspace_id, append_journal.environment, append_journal.actor, append_journal.resource, append_journal.data,
			append_journal.request_id, append_journal.causation_id, append_journal.source, append_journal.created_at
		FROM head RETURNING e.position, e.id
	)
	INSERT INTO outbox AS o (position, workspace_id, event_id)
	SELECT position, append_journal.workspace_id, id FROM appended RETURNING o.position INTO place;
	IF place IS NULL THEN
		RAISE EXCEPTION '% is a stream of another kind or tenant', append_journal.stream_id USING ERRCODE = 'unique_violation';
	END IF;
	RETURN place;
END
$$;
--> statement-breakpoint
-- What each replica may use of a budget that all of them share. Lost in a crash, like the use that was made of it.
CREATE UNLOGGED TABLE budget_leases (
	name text NOT NULL,
	holder text NOT NULL,
	owner text NOT NULL,
	amount bigint NOT NULL,
	expires_at timestamp with time zone NOT NULL,
	CONSTRAINT budget_leases_pkey PRIMARY KEY (name, holder, owner)
);
