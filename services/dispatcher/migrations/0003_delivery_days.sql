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
	)::bigint / 86400000)::int
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
	-- The two conditions are those of two indexes: everybody waits for this.
	EXECUTE format('SELECT (SELECT count(*) FROM %1$I WHERE status IN (''pending'', ''retrying''))
		+ (SELECT count(*) FROM %1$I WHERE status = ''held'')', partition) INTO unfinished;
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
