-- Written by drizzle-kit, but that deliveries, their attempts and their events are partitioned by the day (UTC) in their ids.
CREATE TABLE "data_keys" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"generation" integer NOT NULL,
	"wrapped" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
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
	"ordering_key" text,
	"ordering_place" text,
	"last_attempt_at" text,
	"last_response_status" integer,
	"last_response_body" text,
	"last_duration_ms" integer,
	"last_error_kind" text,
	"last_error_message" text,
	"created_at" text NOT NULL
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
	"due_at" bigint NOT NULL,
	"created_at" text NOT NULL,
	"finished_at" text
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
CREATE UNIQUE INDEX "data_keys_workspace_idx" ON "data_keys" USING btree ("workspace_id","generation");--> statement-breakpoint
CREATE INDEX "deliveries_event_idx" ON "deliveries" USING btree ("event_id");--> statement-breakpoint
CREATE INDEX "deliveries_list_idx" ON "deliveries" USING btree ("webhook_id","id");--> statement-breakpoint
CREATE INDEX "deliveries_failed_idx" ON "deliveries" USING btree ("webhook_id","id") WHERE status = 'failed';--> statement-breakpoint
CREATE INDEX "deliveries_held_idx" ON "deliveries" USING btree ("webhook_id","id") WHERE status = 'held';--> statement-breakpoint
CREATE INDEX "deliveries_due_idx" ON "deliveries" USING btree ("webhook_id","due_at") WHERE status in ('pending', 'retrying');--> statement-breakpoint
CREATE INDEX "deliveries_ordering_idx" ON "deliveries" USING btree ("webhook_id","ordering_key","ordering_place") WHERE ordering_key is not null and status in ('pending', 'retrying', 'held');--> statement-breakpoint
CREATE UNIQUE INDEX "replay_jobs_running_key" ON "replay_jobs" USING btree ("webhook_id") WHERE status = 'running';--> statement-breakpoint
CREATE INDEX "replay_jobs_list_idx" ON "replay_jobs" USING btree ("webhook_id","id");--> statement-breakpoint
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
