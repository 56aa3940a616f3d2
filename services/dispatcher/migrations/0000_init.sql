-- Written by drizzle-kit, but that deliveries, their attempts and their events are partitioned by the day (UTC) in their ids.
CREATE TABLE "data_keys" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"generation" integer NOT NULL,
	"wrapped" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE SEQUENCE "delivery_changes";
--> statement-breakpoint
CREATE TABLE "deliveries" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"webhook_id" text NOT NULL,
	"event_id" text NOT NULL,
	"event_type" text NOT NULL,
	"url" text NOT NULL,
	"status" text NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"cycle_base" integer DEFAULT 0 NOT NULL,
	"due_at" bigint,
	"lease_owner" text,
	"replay_of" text,
	"bytes" integer DEFAULT 0 NOT NULL,
	"ordering_key" text,
	"ordering_place" text,
	"last_attempt_at" text,
	"last_response_status" integer,
	"last_response_body" text,
	"last_duration_ms" integer,
	"last_error_kind" text,
	"last_error_message" text,
	"created_at" text NOT NULL,
	"change_position" bigint
) PARTITION BY RANGE ("id");
--> statement-breakpoint
CREATE TABLE "delivery_attempts" (
	"delivery_id" text NOT NULL,
	"number" integer NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"started_at" text NOT NULL,
	"duration_ms" integer NOT NULL,
	"url" text NOT NULL,
	"request_headers" json NOT NULL,
	"response_status" integer,
	"response_headers" json,
	"response_body" text,
	"response_truncated" boolean,
	"error_kind" text,
	"error_message" text,
	CONSTRAINT "delivery_attempts_pkey" PRIMARY KEY("delivery_id","number")
) PARTITION BY RANGE ("delivery_id");
--> statement-breakpoint
CREATE TABLE "delivery_events" (
	"event_id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"event" json NOT NULL,
	"created_at" text NOT NULL
) PARTITION BY RANGE ("event_id");
--> statement-breakpoint
CREATE TABLE "replay_jobs" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"webhook_id" text NOT NULL,
	"status" text DEFAULT 'running' NOT NULL,
	"statuses" text[] NOT NULL,
	"event_type" text,
	"from_time" text,
	"to_time" text NOT NULL,
	"total" integer NOT NULL,
	"replayed" integer DEFAULT 0 NOT NULL,
	"last_delivery_id" text DEFAULT '' NOT NULL,
	"due_at" timestamp with time zone NOT NULL,
	"created_at" text NOT NULL,
	"finished_at" text,
	"held_until" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_error" text
);
--> statement-breakpoint
CREATE TABLE "webhook_health" (
	"webhook_id" text PRIMARY KEY NOT NULL,
	"epoch" integer NOT NULL,
	"consecutive_failures" integer NOT NULL,
	"peak" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_pace" (
	"webhook_id" text PRIMARY KEY NOT NULL,
	"next_at" double precision NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_replays" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED
);
--> statement-breakpoint
CREATE TABLE "webhook_resends" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED
);
--> statement-breakpoint
CREATE TABLE "webhooks" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED
);
--> statement-breakpoint
CREATE TABLE "fan_out_marks" (
	"source" text NOT NULL,
	"last" bigint NOT NULL,
	"positions" bigint[] NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_fences" (
	"webhook_id" text NOT NULL,
	"source" text NOT NULL,
	"floor" bigint NOT NULL,
	"done" bigint[] NOT NULL,
	CONSTRAINT "webhook_fences_pkey" PRIMARY KEY("webhook_id","source")
);
--> statement-breakpoint
CREATE TABLE "webhook_queues" (
	"webhook_id" text PRIMARY KEY NOT NULL,
	"status" text NOT NULL,
	"next_due_at" bigint,
	"oldest_id" text DEFAULT '' NOT NULL,
	"resumed_at" bigint DEFAULT 0 NOT NULL,
	"drain_at" bigint DEFAULT 0 NOT NULL,
	"drained_to" text DEFAULT '' NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_revisions" (
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"revision" bigint NOT NULL,
	CONSTRAINT "webhook_revisions_pkey" PRIMARY KEY("workspace_id","environment")
);
--> statement-breakpoint
CREATE UNIQUE INDEX "data_keys_workspace_idx" ON "data_keys" USING btree ("workspace_id","generation");--> statement-breakpoint
CREATE INDEX "deliveries_event_idx" ON "deliveries" USING btree ("event_id");--> statement-breakpoint
CREATE INDEX "deliveries_list_idx" ON "deliveries" USING btree ("webhook_id","id");--> statement-breakpoint
CREATE INDEX "deliveries_changes_idx" ON "deliveries" USING btree ("change_position") WHERE change_position is not null;--> statement-breakpoint
CREATE INDEX "deliveries_failed_idx" ON "deliveries" USING btree ("webhook_id","id") WHERE status = 'failed';--> statement-breakpoint
CREATE INDEX "deliveries_due_idx" ON "deliveries" USING btree ("webhook_id","due_at") WHERE status in ('pending', 'retrying');--> statement-breakpoint
CREATE INDEX "webhook_queues_due_idx" ON "webhook_queues" USING btree ("next_due_at") WHERE status = 'active' and next_due_at is not null;--> statement-breakpoint
CREATE INDEX "webhook_queues_deleted_idx" ON "webhook_queues" USING btree ("webhook_id") WHERE status = 'deleted';--> statement-breakpoint
CREATE INDEX "deliveries_unfinished_idx" ON "deliveries" USING btree ("webhook_id","id") WHERE status in ('pending', 'retrying');--> statement-breakpoint
CREATE INDEX "deliveries_lease_idx" ON "deliveries" USING btree ("lease_owner") WHERE lease_owner is not null;--> statement-breakpoint
CREATE INDEX "deliveries_ordering_idx" ON "deliveries" USING btree ("webhook_id","ordering_key","ordering_place") WHERE ordering_key is not null and status in ('pending', 'retrying');--> statement-breakpoint
CREATE UNIQUE INDEX "replay_jobs_running_key" ON "replay_jobs" USING btree ("webhook_id") WHERE status = 'running';--> statement-breakpoint
CREATE INDEX "replay_jobs_list_idx" ON "replay_jobs" USING btree ("webhook_id","id");--> statement-breakpoint
CREATE INDEX "replay_jobs_due_idx" ON "replay_jobs" USING btree (greatest(due_at, held_until)) WHERE status = 'running';--> statement-breakpoint
CREATE INDEX "webhooks_list_idx" ON "webhooks" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
-- Written by hand:
-- Makes the partitions of a day, if need be. The service's own role cannot make tables. A partition is made apart and
-- then attached, which lets reads and writes of the other days go on.
CREATE FUNCTION add_delivery_day(day date) RETURNS void LANGUAGE plpgsql STRICT SECURITY DEFINER
SET search_path FROM CURRENT AS $$
DECLARE
	parent record;
	partition text;
BEGIN
	PERFORM pg_advisory_xact_lock(7241002);
	FOR parent IN SELECT * FROM (VALUES ('deliveries', 'del_'), ('delivery_attempts', 'del_'), ('delivery_events', 'evt_')) AS p (name, prefix)
	LOOP
		partition := parent.name || to_char(day, '_YYYYMMDD');
		CONTINUE WHEN to_regclass(partition) IS NOT NULL;
		EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING INDEXES)', partition, parent.name);
		EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent.name, partition,
			parent.prefix || ulid_start(day), parent.prefix || ulid_start(day + 1));
	END LOOP;
END
$$;
--> statement-breakpoint
-- The lock every drop of a day needs: on the partitioned table first and then on its partition, which is the order of
-- all statements on rows, and on one table in a transaction, so that no statement on several of them gets in between.
-- Whoever waits for it keeps all that come later waiting, so not for long: the caller tries again later.
CREATE FUNCTION lock_delivery_days(parent text) RETURNS void LANGUAGE plpgsql STRICT
SET search_path FROM CURRENT AS $$
BEGIN
	PERFORM set_config('lock_timeout', '800ms', true);
	PERFORM pg_advisory_xact_lock(7241002);
	EXECUTE format('LOCK TABLE ONLY %I IN ACCESS EXCLUSIVE MODE', parent);
END
$$;
--> statement-breakpoint
-- Drops the deliveries of a day, and returns how many of them were unfinished. Null when nothing was dropped: there is
-- no such day, or it has unfinished ones and the drop is not `forced`.
CREATE FUNCTION drop_delivery_day(day date, forced boolean) RETURNS bigint LANGUAGE plpgsql STRICT SECURITY DEFINER
SET search_path FROM CURRENT AS $$
DECLARE
	unfinished bigint;
	partition text := to_char(day, '"deliveries_"YYYYMMDD');
BEGIN
	PERFORM lock_delivery_days('deliveries');
	IF to_regclass(partition) IS NULL THEN
		RETURN NULL;
	END IF;
	-- The condition is that of an index: everybody waits for this.
	EXECUTE format('SELECT count(*) FROM %I WHERE status IN (''pending'', ''retrying'')', partition) INTO unfinished;
	IF unfinished > 0 AND NOT forced THEN
		RETURN NULL;
	END IF;
	EXECUTE format('DROP TABLE %I', partition);
	RETURN unfinished;
END
$$;
--> statement-breakpoint
-- Drops the attempts of a day whose deliveries are gone; returns whether it did.
CREATE FUNCTION drop_attempt_day(day date) RETURNS boolean LANGUAGE plpgsql STRICT SECURITY DEFINER
SET search_path FROM CURRENT AS $$
DECLARE
	partition text := to_char(day, '"delivery_attempts_"YYYYMMDD');
BEGIN
	IF to_regclass(partition) IS NULL OR to_regclass(to_char(day, '"deliveries_"YYYYMMDD')) IS NOT NULL THEN
		RETURN false;
	END IF;
	PERFORM lock_delivery_days('delivery_attempts');
	EXECUTE format('DROP TABLE IF EXISTS %I', partition);
	RETURN true;
END
$$;
--> statement-breakpoint
-- Drops the events of a day unless a delivery, original or replay, refers to one; returns whether it did. To be called
-- for days whose events are not delivered any more. A replay takes its event from a delivery whose partition it keeps
-- until it is committed, so none can be on its way to an event that no delivery refers to.
CREATE FUNCTION drop_event_day(day date) RETURNS boolean LANGUAGE plpgsql STRICT SECURITY DEFINER
SET search_path FROM CURRENT AS $$
DECLARE
	partition text := to_char(day, '"delivery_events_"YYYYMMDD');
BEGIN
	IF to_regclass(partition) IS NULL OR EXISTS (
		SELECT 1 FROM deliveries WHERE event_id >= 'evt_' || ulid_start(day) AND event_id < 'evt_' || ulid_start(day + 1)
	) THEN
		RETURN false;
	END IF;
	PERFORM lock_delivery_days('delivery_events');
	EXECUTE format('DROP TABLE IF EXISTS %I', partition);
	RETURN true;
END
$$;
--> statement-breakpoint
-- Unix milliseconds by the one clock that replicas share.
CREATE FUNCTION now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;
--> statement-breakpoint
-- What follows from a change of webhooks, in its transaction: the tenant's revision, the queue, and the fence of a new
-- one. The revision is written first. Whoever fans out holds a share lock on it until its deliveries and marks are
-- committed, so that what is read afterwards is complete. See ADR 040.
CREATE FUNCTION webhooks_changed() RETURNS trigger LANGUAGE plpgsql
SET search_path FROM CURRENT AS $$
BEGIN
	INSERT INTO webhook_revisions AS r (workspace_id, environment, revision)
	SELECT DISTINCT workspace_id, environment, 1 FROM changed ORDER BY workspace_id, environment
	ON CONFLICT (workspace_id, environment) DO UPDATE SET revision = r.revision + 1;
	IF TG_OP = 'DELETE' THEN
		UPDATE webhook_queues SET status = 'deleted' WHERE webhook_id IN (SELECT id FROM changed);
		RETURN NULL;
	END IF;
	INSERT INTO webhook_queues AS q (webhook_id, status)
	SELECT id, status FROM changed ORDER BY id
	ON CONFLICT (webhook_id) DO UPDATE SET status = excluded.status,
		(resumed_at, drain_at, drained_to, next_due_at) = (
			SELECT now, 0, '', least(q.next_due_at, now) FROM (SELECT now_ms()) AS resumed (now)
			WHERE q.status = 'paused' AND excluded.status = 'active'
			UNION ALL
			SELECT q.resumed_at, q.drain_at, q.drained_to, q.next_due_at
			WHERE NOT (q.status = 'paused' AND excluded.status = 'active'))
	WHERE q.status <> excluded.status;
	IF TG_OP = 'INSERT' THEN
		INSERT INTO webhook_fences (webhook_id, source, floor, done)
		SELECT changed.id, fence.source, fence.floor, fence.done FROM changed CROSS JOIN fan_out_fence() fence
		ON CONFLICT DO NOTHING;
	END IF;
	RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER webhooks_inserted AFTER INSERT ON webhooks REFERENCING NEW TABLE AS changed
	FOR EACH STATEMENT EXECUTE FUNCTION webhooks_changed();
--> statement-breakpoint
CREATE TRIGGER webhooks_updated AFTER UPDATE ON webhooks REFERENCING NEW TABLE AS changed
	FOR EACH STATEMENT EXECUTE FUNCTION webhooks_changed();
--> statement-breakpoint
CREATE TRIGGER webhooks_deleted AFTER DELETE ON webhooks REFERENCING OLD TABLE AS changed
	FOR EACH STATEMENT EXECUTE FUNCTION webhooks_changed();
--> statement-breakpoint
-- How far events are fanned out now: of each source everything up to `floor`, and `done` above it.
CREATE FUNCTION fan_out_fence() RETURNS TABLE (source text, floor bigint, done bigint[]) LANGUAGE sql STABLE
SET search_path FROM CURRENT AS $$
	WITH floors AS (SELECT source, position FROM consumer_floors WHERE consumer = 'dispatcher-delivery-fanout'),
	marks AS (
		SELECT m.source, array_agg(DISTINCT done.position ORDER BY done.position) AS positions
		FROM fan_out_marks m CROSS JOIN unnest(m.positions) AS done (position)
		LEFT JOIN floors ON floors.source = m.source
		WHERE done.position > coalesce(floors.position, 0)
		GROUP BY m.source)
	SELECT source, coalesce(floors.position, 0), coalesce(marks.positions, '{}') FROM floors FULL JOIN marks USING (source)
$$;
--> statement-breakpoint
-- Leases deliveries that are due: of the webhooks whose turn is longest ago, a few of each, up to a number of rows and of
-- bytes. The row of a queue is locked while its next due time is worked out by a later statement; whoever makes a
-- delivery due locks it too, so neither misses the other. What a paused webhook missed comes at the pace of the drain.
CREATE FUNCTION claim_deliveries(owner text, lease_ms bigint, passed text[], per_webhook int, most int, most_bytes bigint, drain_step int, drain_every bigint)
RETURNS TABLE (id text, webhook_id text, version int, attempts int, cycle_base int, ordering_key text, bytes int, event text) LANGUAGE plpgsql
SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
	moment bigint := now_ms();
	picked text[];
	queue record;
BEGIN
	SELECT array_agg(q.webhook_id) INTO picked FROM (
		SELECT webhook_id FROM webhook_queues
		WHERE status = 'active' AND next_due_at IS NOT NULL AND next_due_at <= moment AND webhook_id <> ALL (passed)
		ORDER BY next_due_at LIMIT greatest(1, most / per_webhook) FOR UPDATE SKIP LOCKED) q;
	IF picked IS NULL THEN
		RETURN;
	END IF;
	FOR queue IN SELECT * FROM webhook_queues WHERE webhook_id = ANY (picked) AND resumed_at > 0 AND drain_at <= moment LOOP
		PERFORM drain_queue(queue.webhook_id, moment, drain_step, drain_every);
	END LOOP;
	RETURN QUERY
	WITH due AS MATERIALIZED (
		SELECT d.id, d.bytes, q.webhook_id, row_number() OVER (PARTITION BY q.webhook_id ORDER BY d.due_at) AS place
		FROM webhook_queues q CROSS JOIN LATERAL (
			SELECT id, bytes, due_at FROM deliveries
			WHERE webhook_id = q.webhook_id AND status IN ('pending', 'retrying') AND due_at > q.resumed_at AND due_at <= moment
				AND id >= q.oldest_id
			ORDER BY due_at LIMIT per_webhook FOR UPDATE SKIP LOCKED) d
		WHERE q.webhook_id = ANY (picked)
	),
	-- Round by round, so that a budget that is used up was shared.
	lined AS (
		SELECT id, webhook_id, row_number() OVER line AS n, sum(bytes) OVER line AS total
		FROM due WINDOW line AS (ORDER BY place, webhook_id)
	),
	chosen AS MATERIALIZED (SELECT id, webhook_id FROM lined WHERE n <= most AND (n = 1 OR total <= most_bytes))
	UPDATE deliveries d SET lease_owner = owner, due_at = moment + lease_ms + (w.state->>'timeoutMs')::bigint
	FROM chosen JOIN webhooks w ON w.id = chosen.webhook_id
	WHERE d.id = chosen.id AND d.id = ANY (ARRAY(SELECT id FROM chosen))
	RETURNING d.id, d.webhook_id, w.version, d.attempts, d.cycle_base, d.ordering_key, d.bytes,
		(SELECT e.event::text FROM delivery_events e WHERE e.event_id = d.event_id);
	UPDATE webhook_queues q SET (next_due_at, oldest_id) = (
		SELECT least(
			CASE WHEN q.resumed_at > 0 THEN greatest(q.drain_at, moment) END,
			-- What is left is for the next round: the others come first.
			(SELECT greatest(due_at, moment) FROM deliveries
			 WHERE webhook_id = q.webhook_id AND status IN ('pending', 'retrying') AND due_at > q.resumed_at AND id >= q.oldest_id
			 ORDER BY due_at LIMIT 1)),
			coalesce((SELECT d.id FROM deliveries d
			 WHERE d.webhook_id = q.webhook_id AND status IN ('pending', 'retrying') AND d.id >= q.oldest_id
			 ORDER BY d.id LIMIT 1), ''))
	WHERE q.webhook_id = ANY (picked);
END
$$;
--> statement-breakpoint
-- One step of making due what a paused webhook missed: first what was due by then, then retries of a later time, whose
-- ids `drained_to` walks. At its end the queue is like any other.
CREATE FUNCTION drain_queue(queue text, moment bigint, step int, every bigint) RETURNS void LANGUAGE plpgsql
SET search_path FROM CURRENT AS $$
DECLARE
	q record;
	made int;
	furthest text;
BEGIN
	SELECT * INTO q FROM webhook_queues WHERE webhook_id = queue;
	UPDATE deliveries SET due_at = greatest(moment, q.resumed_at + 1), lease_owner = NULL
	WHERE id >= q.oldest_id AND id = ANY (ARRAY(
		SELECT id FROM deliveries
		WHERE webhook_id = queue AND status IN ('pending', 'retrying') AND due_at <= q.resumed_at AND id >= q.oldest_id
		ORDER BY due_at, id LIMIT step FOR UPDATE SKIP LOCKED));
	GET DIAGNOSTICS made = ROW_COUNT;
	IF made = 0 THEN
		WITH woken AS (
			UPDATE deliveries SET due_at = greatest(moment, q.resumed_at + 1)
			WHERE id > q.drained_to AND id = ANY (ARRAY(
				SELECT id FROM deliveries
				WHERE webhook_id = queue AND status IN ('pending', 'retrying') AND id > q.drained_to AND id >= q.oldest_id
					AND id < 'del_' || ulid_time(q.resumed_at) AND status = 'retrying' AND lease_owner IS NULL AND due_at > moment
				ORDER BY id LIMIT step FOR UPDATE SKIP LOCKED))
			RETURNING id)
		SELECT count(*), max(id) INTO made, furthest FROM woken;
	END IF;
	UPDATE webhook_queues SET drain_at = moment + every, drained_to = coalesce(furthest, drained_to),
		resumed_at = CASE WHEN made = 0 THEN 0 ELSE resumed_at END
	WHERE webhook_id = queue;
END
$$;
--> statement-breakpoint
-- One step of ending what a deleted webhook left unfinished, and at last its queue. Returns how many deliveries were
-- ended; null when there is nothing to do.
CREATE FUNCTION end_deleted(most int) RETURNS int LANGUAGE plpgsql
SET search_path FROM CURRENT AS $$
DECLARE
	queue text;
	ended int;
BEGIN
	SELECT webhook_id INTO queue FROM webhook_queues WHERE status = 'deleted' ORDER BY webhook_id LIMIT 1 FOR UPDATE SKIP LOCKED;
	IF queue IS NULL THEN
		RETURN NULL;
	END IF;
	UPDATE deliveries SET status = 'failed', due_at = NULL, lease_owner = NULL,
		last_error_kind = 'webhook_deleted', last_error_message = 'The webhook was deleted.',
		change_position = nextval('delivery_changes')
	WHERE id = ANY (ARRAY(
		SELECT id FROM deliveries WHERE webhook_id = queue AND status IN ('pending', 'retrying') ORDER BY id LIMIT most));
	GET DIAGNOSTICS ended = ROW_COUNT;
	IF ended < most THEN
		DELETE FROM webhook_queues WHERE webhook_id = queue;
		DELETE FROM webhook_pace WHERE webhook_id = queue;
		DELETE FROM webhook_health WHERE webhook_id = queue;
		DELETE FROM webhook_fences WHERE webhook_id = queue;
	END IF;
	RETURN ended;
END
$$;
