CREATE TABLE "webhook_pace" (
	"webhook_id" text PRIMARY KEY NOT NULL,
	"next_at" double precision NOT NULL
);
--> statement-breakpoint
-- Deliveries, their attempts and their events become partitioned by the day (UTC) in their ids.
DROP INDEX "deliveries_event_webhook_key", "deliveries_replay_idx", "deliveries_list_idx", "deliveries_failed_idx", "deliveries_held_idx", "deliveries_due_idx";
--> statement-breakpoint
ALTER TABLE "deliveries" DROP CONSTRAINT "deliveries_pkey";
--> statement-breakpoint
ALTER TABLE "delivery_attempts" DROP CONSTRAINT "delivery_attempts_pkey";
--> statement-breakpoint
ALTER TABLE "delivery_events" DROP CONSTRAINT "delivery_events_pkey";
--> statement-breakpoint
ALTER TABLE "deliveries" RENAME TO "deliveries_whole";
--> statement-breakpoint
ALTER TABLE "delivery_attempts" RENAME TO "delivery_attempts_whole";
--> statement-breakpoint
ALTER TABLE "delivery_events" RENAME TO "delivery_events_whole";
--> statement-breakpoint
CREATE TABLE "deliveries" (
	LIKE "deliveries_whole" INCLUDING DEFAULTS,
	"ordering_key" text,
	"ordering_place" text,
	CONSTRAINT "deliveries_pkey" PRIMARY KEY("id")
) PARTITION BY RANGE ("id");
--> statement-breakpoint
CREATE TABLE "delivery_attempts" (
	LIKE "delivery_attempts_whole" INCLUDING DEFAULTS,
	CONSTRAINT "delivery_attempts_pkey" PRIMARY KEY("delivery_id","number")
) PARTITION BY RANGE ("delivery_id");
--> statement-breakpoint
CREATE TABLE "delivery_events" (
	LIKE "delivery_events_whole" INCLUDING DEFAULTS,
	CONSTRAINT "delivery_events_pkey" PRIMARY KEY("event_id")
) PARTITION BY RANGE ("event_id");
--> statement-breakpoint
CREATE INDEX "deliveries_event_idx" ON "deliveries" USING btree ("event_id");--> statement-breakpoint
CREATE INDEX "deliveries_list_idx" ON "deliveries" USING btree ("webhook_id","id");--> statement-breakpoint
CREATE INDEX "deliveries_failed_idx" ON "deliveries" USING btree ("webhook_id","id") WHERE status = 'failed';--> statement-breakpoint
CREATE INDEX "deliveries_held_idx" ON "deliveries" USING btree ("webhook_id","id") WHERE status = 'held';--> statement-breakpoint
CREATE INDEX "deliveries_due_idx" ON "deliveries" USING btree ("webhook_id","due_at") WHERE status in ('pending', 'retrying');--> statement-breakpoint
CREATE INDEX "deliveries_ordering_idx" ON "deliveries" USING btree ("webhook_id","ordering_key","ordering_place") WHERE ordering_key is not null and status in ('pending', 'retrying', 'held');
--> statement-breakpoint
-- The first ten digits of a ULID of this day: its first millisecond in Crockford's base 32.
CREATE FUNCTION ulid_start(day date) RETURNS text LANGUAGE sql IMMUTABLE STRICT
SET search_path FROM CURRENT AS $$
	SELECT string_agg(
		substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (((day - date '1970-01-01')::bigint * 86400000 >> (5 * digit)) & 31)::int + 1, 1),
		'' ORDER BY digit DESC)
	FROM generate_series(0, 9) digit
$$;
--> statement-breakpoint
-- The day of an id such as del_<ULID>.
CREATE FUNCTION ulid_day(id text) RETURNS date LANGUAGE sql IMMUTABLE STRICT
SET search_path FROM CURRENT AS $$
	SELECT date '1970-01-01' + (sum(
		(strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(split_part(id, '_', 2), place, 1)) - 1)::bigint << (5 * (10 - place))
	) / 86400000)::int
	FROM generate_series(1, 10) place
$$;
--> statement-breakpoint
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
-- Drops the deliveries of a day with their attempts, and returns how many of them were unfinished. While there are
-- unfinished ones nothing is dropped, unless `forced`: null then.
CREATE FUNCTION drop_delivery_day(day date, forced boolean) RETURNS bigint LANGUAGE plpgsql STRICT SECURITY DEFINER
SET search_path FROM CURRENT AS $$
DECLARE
	unfinished bigint := 0;
	partition text := to_char(day, '"deliveries_"YYYYMMDD');
	attempts text := to_char(day, '"delivery_attempts_"YYYYMMDD');
BEGIN
	-- Whoever waits for a lock keeps all that come later waiting, so not for long.
	PERFORM set_config('lock_timeout', '1s', true);
	IF to_regclass(partition) IS NOT NULL THEN
		EXECUTE format('LOCK TABLE %I IN SHARE MODE', partition);
		EXECUTE format('SELECT count(*) FROM %I WHERE status IN (''pending'', ''retrying'', ''held'')', partition) INTO unfinished;
		IF unfinished > 0 AND NOT forced THEN
			RETURN NULL;
		END IF;
		EXECUTE format('DROP TABLE %I', partition);
	END IF;
	EXECUTE format('DROP TABLE IF EXISTS %I', attempts);
	RETURN unfinished;
END
$$;
--> statement-breakpoint
-- Drops the events of a day unless a delivery, original or replay, refers to one; returns whether they are gone.
CREATE FUNCTION drop_event_day(day date) RETURNS boolean LANGUAGE plpgsql STRICT SECURITY DEFINER
SET search_path FROM CURRENT AS $$
BEGIN
	PERFORM set_config('lock_timeout', '1s', true);
	-- Replays take their event from here: none may be made between the look and the drop.
	LOCK TABLE deliveries IN SHARE MODE;
	IF EXISTS (SELECT 1 FROM deliveries WHERE event_id >= 'evt_' || ulid_start(day) AND event_id < 'evt_' || ulid_start(day + 1)) THEN
		RETURN false;
	END IF;
	EXECUTE format('DROP TABLE IF EXISTS %I', to_char(day, '"delivery_events_"YYYYMMDD'));
	RETURN true;
END
$$;
--> statement-breakpoint
SELECT add_delivery_day(day) FROM (
	SELECT ulid_day(id) FROM deliveries_whole UNION SELECT ulid_day(event_id) FROM delivery_events_whole
) AS days (day);
--> statement-breakpoint
INSERT INTO "deliveries" (id, workspace_id, environment, webhook_id, event_id, event_type, url, status, attempts,
	cycle_base, due_at, lease_owner, replay_of, last_attempt_at, last_response_status, last_response_body,
	last_duration_ms, last_error_kind, last_error_message, created_at)
SELECT id, workspace_id, environment, webhook_id, event_id, event_type, url, status, attempts, cycle_base, due_at,
	lease_owner, replay_of, last_attempt_at, last_response_status, last_response_body, last_duration_ms,
	last_error_kind, last_error_message, created_at
FROM "deliveries_whole";
--> statement-breakpoint
INSERT INTO "delivery_attempts" SELECT * FROM "delivery_attempts_whole";
--> statement-breakpoint
INSERT INTO "delivery_events" SELECT * FROM "delivery_events_whole";
--> statement-breakpoint
DROP TABLE "deliveries_whole", "delivery_attempts_whole", "delivery_events_whole";
