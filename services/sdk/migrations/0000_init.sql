CREATE TABLE "packs" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED
);
--> statement-breakpoint
CREATE INDEX "packs_created_idx" ON "packs" USING btree ("workspace_id","environment","created_at","id");
--> statement-breakpoint
CREATE TABLE "artifact_versions" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"artifact_id" text GENERATED ALWAYS AS (state->>'artifactId') STORED,
	"number" integer GENERATED ALWAYS AS ((state->>'number')::integer) STORED,
	"digest" text GENERATED ALWAYS AS (state->>'digest') STORED
);
--> statement-breakpoint
CREATE TABLE "artifacts" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"slug" text GENERATED ALWAYS AS (state->>'slug') STORED,
	"name" text GENERATED ALWAYS AS (state->>'name') STORED,
	"kind" text GENERATED ALWAYS AS (state->>'kind') STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED,
	"pack_id" text GENERATED ALWAYS AS (state->>'packId') STORED,
	"owner_id" text GENERATED ALWAYS AS (state->>'ownerId') STORED,
	"updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED
);
--> statement-breakpoint
CREATE TABLE "pack_installations" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"pack_id" text GENERATED ALWAYS AS (state->>'packId') STORED,
	"pack_version" text GENERATED ALWAYS AS (state->>'packVersion') STORED
);
--> statement-breakpoint
ALTER TABLE "packs" ADD COLUMN "name" text GENERATED ALWAYS AS (state->>'name') STORED;--> statement-breakpoint
ALTER TABLE "packs" ADD COLUMN "status" text GENERATED ALWAYS AS (state->>'status') STORED;--> statement-breakpoint
ALTER TABLE "packs" ADD COLUMN "owner_id" text GENERATED ALWAYS AS (state->>'ownerId') STORED;--> statement-breakpoint
ALTER TABLE "packs" ADD COLUMN "updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED;--> statement-breakpoint
CREATE INDEX "artifact_versions_artifact_idx" ON "artifact_versions" USING btree ("workspace_id","environment","artifact_id","number","id");--> statement-breakpoint
CREATE INDEX "artifacts_created_idx" ON "artifacts" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "artifacts_pack_idx" ON "artifacts" USING btree ("pack_id");--> statement-breakpoint
CREATE UNIQUE INDEX "artifacts_slug_key" ON "artifacts" USING btree ("workspace_id","environment","slug");--> statement-breakpoint
CREATE INDEX "artifacts_rules_idx" ON "artifacts" USING btree ("workspace_id","environment") WHERE kind = 'business_rule' and status = 'active';--> statement-breakpoint
CREATE INDEX "pack_installations_pack_idx" ON "pack_installations" USING btree ("pack_id","pack_version");--> statement-breakpoint
CREATE UNIQUE INDEX "packs_name_key" ON "packs" USING btree ("workspace_id","environment","name");--> statement-breakpoint
CREATE INDEX "packs_owner_idx" ON "packs" USING btree ("workspace_id","owner_id") WHERE status = 'active';
--> statement-breakpoint
-- Written by drizzle-kit, but that executions and their records are partitioned by the month (UTC) in their ids, and the end.
CREATE TABLE "execution_keys" (
	"key" text PRIMARY KEY NOT NULL,
	"execution_id" text NOT NULL,
	"fingerprint" text
);
--> statement-breakpoint
CREATE TABLE "execution_records" (
	"execution_id" text NOT NULL,
	"record_id" text NOT NULL,
	"table_name" text NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	CONSTRAINT "execution_records_pkey" PRIMARY KEY("execution_id","record_id","table_name")
) PARTITION BY RANGE ("execution_id");
--> statement-breakpoint
CREATE SEQUENCE "execution_changes";
--> statement-breakpoint
CREATE TABLE "executions" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"artifact_id" text NOT NULL,
	"artifact_slug" text NOT NULL,
	"artifact_version" integer NOT NULL,
	"artifact_type" text NOT NULL,
	"execution_type" text NOT NULL,
	"trigger_type" text NOT NULL,
	"trigger_id" text,
	"status" text DEFAULT 'running' NOT NULL,
	"input" json NOT NULL,
	"input_masked" boolean DEFAULT false NOT NULL,
	"output" json,
	"error" json,
	"logs" json,
	"duration_ms" integer,
	"memory_peak_mb" integer,
	"started_at" timestamp(3) with time zone NOT NULL,
	"completed_at" timestamp(3) with time zone,
	"replay_of" text,
	"bytes" integer NOT NULL,
	"plan" json,
	"depth" smallint NOT NULL,
	"request_id" text,
	"change_position" bigint,
	"held_until" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"lease_owner" text,
	"lease_fence" bigint DEFAULT 0 NOT NULL
) PARTITION BY RANGE ("id");
--> statement-breakpoint
CREATE TABLE "jobs" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"artifact" text GENERATED ALWAYS AS (state->>'artifact') STORED
);
--> statement-breakpoint
CREATE TABLE "schedule_fires" (
	"schedule_id" text NOT NULL,
	"fire_at" timestamp with time zone NOT NULL,
	"decided_at" timestamp with time zone NOT NULL,
	"begun" text NOT NULL,
	CONSTRAINT "schedule_fires_schedule_id_fire_at_pk" PRIMARY KEY("schedule_id","fire_at")
);
--> statement-breakpoint
CREATE TABLE "schedules" (
	"id" text PRIMARY KEY NOT NULL,
	"owner_kind" text NOT NULL,
	"owner_id" text NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"spec" json NOT NULL,
	"anchored_at" timestamp with time zone NOT NULL,
	"planned_at" timestamp with time zone,
	"last_fired_at" timestamp with time zone,
	"paused_at" timestamp with time zone,
	"held_until" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_error" text
);
--> statement-breakpoint
ALTER TABLE "schedule_fires" ADD CONSTRAINT "schedule_fires_schedule_id_schedules_id_fk" FOREIGN KEY ("schedule_id") REFERENCES "schedules"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "execution_keys_execution_idx" ON "execution_keys" USING btree ("execution_id");--> statement-breakpoint
CREATE INDEX "execution_records_record_idx" ON "execution_records" USING btree ("workspace_id","environment","record_id","execution_id");--> statement-breakpoint
CREATE INDEX "execution_records_table_idx" ON "execution_records" USING btree ("workspace_id","environment","table_name","execution_id");--> statement-breakpoint
CREATE INDEX "executions_list_idx" ON "executions" USING btree ("workspace_id","environment","id");--> statement-breakpoint
CREATE INDEX "executions_status_idx" ON "executions" USING btree ("workspace_id","environment","status","id");--> statement-breakpoint
CREATE INDEX "executions_artifact_idx" ON "executions" USING btree ("artifact_id","id");--> statement-breakpoint
CREATE INDEX "executions_artifact_type_idx" ON "executions" USING btree ("workspace_id","environment","artifact_type","id");--> statement-breakpoint
CREATE INDEX "executions_type_idx" ON "executions" USING btree ("workspace_id","environment","execution_type","id");--> statement-breakpoint
CREATE INDEX "executions_trigger_idx" ON "executions" USING btree ("workspace_id","environment","trigger_type","trigger_id","id");--> statement-breakpoint
CREATE INDEX "executions_changes_idx" ON "executions" USING btree ("change_position") WHERE change_position is not null;--> statement-breakpoint
CREATE INDEX "executions_open_idx" ON "executions" USING btree ("trigger_id") WHERE completed_at is null;--> statement-breakpoint
CREATE INDEX "executions_due_idx" ON "executions" USING btree (greatest(started_at, held_until)) WHERE completed_at is null;--> statement-breakpoint
CREATE INDEX "executions_turn_idx" ON "executions" USING btree (workspace_id,coalesce(greatest(started_at, held_until), 'infinity'::timestamptz)) WHERE completed_at is null;--> statement-breakpoint
CREATE INDEX "jobs_created_idx" ON "jobs" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "jobs_artifact_idx" ON "jobs" USING btree ("workspace_id","environment","artifact");--> statement-breakpoint
CREATE INDEX "schedules_due_idx" ON "schedules" USING btree (greatest(planned_at, held_until)) WHERE paused_at is null and planned_at is not null;--> statement-breakpoint
CREATE INDEX "schedules_turn_idx" ON "schedules" USING btree (workspace_id,coalesce(greatest(planned_at, held_until), 'infinity'::timestamptz)) WHERE paused_at is null and planned_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "schedules_owner_idx" ON "schedules" USING btree ("owner_kind","owner_id");
--> statement-breakpoint
-- Makes the partitions of the month of a day, if need be.
CREATE FUNCTION add_execution_month(day date) RETURNS void LANGUAGE sql STRICT
SET search_path FROM CURRENT AS $$ SELECT add_month('executions', 'exec_', day), add_month('execution_records', 'exec_', day) $$;
--> statement-breakpoint
-- Drops the executions of a month and their records, unless one of them has not ended or is to be kept; returns whether it did.
-- Executions are kept that ended after `kept_since`, as are those of workspaces that keep them for longer (`longer`).
CREATE FUNCTION drop_execution_month(day date, kept_since timestamp with time zone, longer text[]) RETURNS boolean
LANGUAGE plpgsql STRICT SECURITY DEFINER
SET search_path FROM CURRENT AS $$
DECLARE
	partition text := to_char(day, '"executions_"YYYYMM');
	records text := to_char(day, '"execution_records_"YYYYMM');
	kept boolean;
BEGIN
	IF to_regclass(partition) IS NULL THEN
		RETURN false;
	END IF;
	EXECUTE format('SELECT EXISTS (SELECT FROM %I WHERE completed_at IS NULL OR completed_at >= $1 OR workspace_id = ANY ($2))', partition)
		INTO kept USING kept_since, longer;
	IF kept THEN
		RETURN false;
	END IF;
	-- Whoever comes after this waits for a moment only.
	PERFORM set_config('lock_timeout', '800ms', true);
	EXECUTE format('LOCK TABLE %I IN SHARE ROW EXCLUSIVE MODE', partition);
	EXECUTE format('DELETE FROM execution_keys USING %I gone WHERE execution_id = gone.id', partition);
	EXECUTE format('DROP TABLE %I', partition);
	EXECUTE format('DROP TABLE IF EXISTS %I', records);
	RETURN true;
END
$$;

--> statement-breakpoint
CREATE TABLE "data_keys" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"generation" integer NOT NULL,
	"wrapped" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX "data_keys_workspace_idx" ON "data_keys" USING btree ("workspace_id","generation");