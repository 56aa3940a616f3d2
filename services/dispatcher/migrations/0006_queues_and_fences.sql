CREATE TABLE IF NOT EXISTS "consumer_floors" (
	"consumer" text NOT NULL,
	"source" text NOT NULL,
	"position" bigint NOT NULL,
	CONSTRAINT "consumer_floors_pkey" PRIMARY KEY("consumer","source")
);
--> statement-breakpoint
CREATE OR REPLACE FUNCTION ulid_time(ms bigint) RETURNS text LANGUAGE sql IMMUTABLE STRICT
SET search_path FROM CURRENT AS $$
	SELECT string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((ms >> (5 * digit)) & 31)::int + 1, 1), '' ORDER BY digit DESC)
	FROM generate_series(0, 9) digit
$$;
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
DROP INDEX "deliveries_held_idx";--> statement-breakpoint
DROP INDEX "deliveries_ordering_idx";--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "bytes" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "webhook_queues_due_idx" ON "webhook_queues" USING btree ("next_due_at") WHERE status = 'active' and next_due_at is not null;--> statement-breakpoint
CREATE INDEX "webhook_queues_deleted_idx" ON "webhook_queues" USING btree ("webhook_id") WHERE status = 'deleted';--> statement-breakpoint
CREATE INDEX "deliveries_unfinished_idx" ON "deliveries" USING btree ("webhook_id","id") WHERE status in ('pending', 'retrying');--> statement-breakpoint
CREATE INDEX "deliveries_lease_idx" ON "deliveries" USING btree ("lease_owner") WHERE lease_owner is not null;--> statement-breakpoint
CREATE INDEX "deliveries_ordering_idx" ON "deliveries" USING btree ("webhook_id","ordering_key","ordering_place") WHERE ordering_key is not null and status in ('pending', 'retrying');
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
	SELECT coalesce(f.source, m.source), coalesce(f.position, 0), coalesce(m.done, '{}')
	FROM (SELECT source, position FROM consumer_floors WHERE consumer = 'dispatcher-delivery-fanout') f
	FULL JOIN (
		SELECT marks.source, array_agg(DISTINCT position ORDER BY position) FILTER (WHERE position > coalesce(floors.position, 0)) AS done
		FROM fan_out_marks marks CROSS JOIN unnest(marks.positions) AS position
		LEFT JOIN consumer_floors floors ON floors.consumer = 'dispatcher-delivery-fanout' AND floors.source = marks.source
		GROUP BY marks.source) m ON m.source = f.source
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
		last_error_kind = 'webhook_deleted', last_error_message = 'The webhook was deleted.'
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
--> statement-breakpoint
CREATE OR REPLACE FUNCTION drop_delivery_day(day date, forced boolean) RETURNS bigint LANGUAGE plpgsql STRICT SECURITY DEFINER
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
