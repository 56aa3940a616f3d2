CREATE TABLE "reports" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED
);
--> statement-breakpoint
CREATE INDEX "reports_created_idx" ON "reports" USING btree ("workspace_id","environment","created_at","id");
--> statement-breakpoint
-- Written by drizzle-kit, but that facts are partitioned by the month (UTC) in their ids, and room is left for updates in place.
CREATE TABLE "dashboards" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED
);
--> statement-breakpoint
CREATE TABLE "fact_changes" (
	"number" text,
	"title" text,
	"type" text,
	"status" text,
	"risk" text,
	"impact" text,
	"assignee_id" text,
	"assignment_group" text,
	"requester_id" text,
	"outcome" text,
	"on_hold" boolean,
	"planned_start" timestamp(3) with time zone,
	"planned_end" timestamp(3) with time zone,
	"actual_start" timestamp(3) with time zone,
	"actual_end" timestamp(3) with time zone,
	"implementation_ms" bigint,
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" bigint NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL
) PARTITION BY RANGE ("id");
--> statement-breakpoint
CREATE TABLE "fact_events" (
	"type" text,
	"family" text,
	"resource_type" text,
	"actor_id" text,
	"actor_type" text,
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" bigint NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL
) PARTITION BY RANGE ("id");
--> statement-breakpoint
CREATE TABLE "fact_deliveries" (
	"webhook_id" text,
	"host" text,
	"event_type" text,
	"family" text,
	"status" text,
	"is_replay" boolean,
	"attempts" bigint,
	"response_status" bigint,
	"error_kind" text,
	"last_attempt_at" timestamp(3) with time zone,
	"duration_ms" bigint,
	"latency_ms" bigint,
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" bigint NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL
) PARTITION BY RANGE ("id");
--> statement-breakpoint
CREATE TABLE "fact_executions" (
	"artifact_slug" text,
	"artifact_version" bigint,
	"artifact_type" text,
	"trigger_type" text,
	"status" text,
	"is_replay" boolean,
	"error_code" text,
	"completed_at" timestamp(3) with time zone,
	"duration_ms" bigint,
	"memory_peak_mb" bigint,
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" bigint NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL
) PARTITION BY RANGE ("id");
--> statement-breakpoint
CREATE TABLE "fact_incidents" (
	"number" text,
	"title" text,
	"status" text,
	"severity" text,
	"priority" text,
	"impact" text,
	"urgency" text,
	"assignee_id" text,
	"assignment_group" text,
	"category" text,
	"ci_id" text,
	"caller_id" text,
	"channel" text,
	"major_state" text,
	"resolution_code" text,
	"resolved_at" timestamp(3) with time zone,
	"closed_at" timestamp(3) with time zone,
	"time_to_resolve_ms" bigint,
	"reopen_count" bigint,
	"escalation_level" bigint,
	"comment_count" bigint,
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" bigint NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL
) PARTITION BY RANGE ("id");
--> statement-breakpoint
CREATE TABLE "fact_problems" (
	"number" text,
	"title" text,
	"status" text,
	"impact" text,
	"priority" text,
	"assignee_id" text,
	"assignment_group" text,
	"category" text,
	"known_error" boolean,
	"resolution" text,
	"resolved_at" timestamp(3) with time zone,
	"closed_at" timestamp(3) with time zone,
	"reopen_count" bigint,
	"time_to_resolve_ms" bigint,
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" bigint NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL
) PARTITION BY RANGE ("id");
--> statement-breakpoint
CREATE TABLE "fact_records" (
	"table_slug" text,
	"operation" text,
	"actor_id" text,
	"actor_type" text,
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" bigint NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL
) PARTITION BY RANGE ("id");
--> statement-breakpoint
CREATE TABLE "fact_runs" (
	"workflow_id" text,
	"workflow_name" text,
	"status" text,
	"trigger_type" text,
	"error_code" text,
	"attempt" bigint,
	"started_at" timestamp(3) with time zone,
	"ended_at" timestamp(3) with time zone,
	"duration_ms" bigint,
	"wait_ms" bigint,
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" bigint NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL
) PARTITION BY RANGE ("id");
--> statement-breakpoint
CREATE TABLE "fact_sla_clocks" (
	"entity_type" text,
	"entity_number" text,
	"policy_id" text,
	"policy_name" text,
	"metric" text,
	"goal_key" text,
	"goal_ms" bigint,
	"state" text,
	"breached" boolean,
	"started_at" timestamp(3) with time zone,
	"due_at" timestamp(3) with time zone,
	"breached_at" timestamp(3) with time zone,
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" bigint NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL
) PARTITION BY RANGE ("id");
--> statement-breakpoint
CREATE TABLE "fact_versions" (
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"dataset" text NOT NULL,
	"version" bigint NOT NULL,
	"newest_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "fact_versions_pkey" PRIMARY KEY("workspace_id","environment","dataset")
) WITH (fillfactor = 50);
--> statement-breakpoint
CREATE TABLE "rollup_definitions" (
	"dataset" text PRIMARY KEY NOT NULL,
	"definition" json NOT NULL
);
--> statement-breakpoint
CREATE TABLE "rollup_marks" (
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"dataset" text NOT NULL,
	"level" smallint NOT NULL,
	"block" integer NOT NULL,
	"due_at" timestamp with time zone NOT NULL,
	CONSTRAINT "rollup_marks_pkey" PRIMARY KEY("workspace_id","environment","dataset","level","block")
) WITH (fillfactor = 50);
--> statement-breakpoint
CREATE TABLE "rollup_sketches" (
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"dataset" text NOT NULL,
	"level" smallint NOT NULL,
	"block" integer NOT NULL,
	"rollup" smallint NOT NULL,
	"key" text[] NOT NULL,
	"sketch" text NOT NULL,
	"buckets" smallint[] NOT NULL,
	"counts" integer[] NOT NULL,
	CONSTRAINT "rollup_sketches_pkey" PRIMARY KEY("workspace_id","environment","dataset","rollup","sketch","level","block","key")
);
--> statement-breakpoint
CREATE TABLE "rollups" (
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"dataset" text NOT NULL,
	"level" smallint NOT NULL,
	"block" integer NOT NULL,
	"rollup" smallint NOT NULL,
	"key" text[] NOT NULL,
	"sums" double precision[] NOT NULL,
	CONSTRAINT "rollups_pkey" PRIMARY KEY("workspace_id","environment","dataset","rollup","level","block","key")
);
--> statement-breakpoint
CREATE INDEX "dashboards_created_idx" ON "dashboards" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "fact_changes_time_idx" ON "fact_changes" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "fact_events_time_idx" ON "fact_events" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "fact_deliveries_time_idx" ON "fact_deliveries" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "fact_executions_time_idx" ON "fact_executions" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "fact_incidents_time_idx" ON "fact_incidents" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "fact_problems_time_idx" ON "fact_problems" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "fact_records_time_idx" ON "fact_records" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "fact_runs_time_idx" ON "fact_runs" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "fact_sla_clocks_time_idx" ON "fact_sla_clocks" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "rollup_marks_due_idx" ON "rollup_marks" USING btree ("due_at");
--> statement-breakpoint
CREATE FUNCTION add_fact_incidents_month(day date) RETURNS void LANGUAGE sql STRICT
SET search_path FROM CURRENT AS $$ SELECT add_month('fact_incidents', 'inc_', day) $$;
--> statement-breakpoint
CREATE FUNCTION add_fact_changes_month(day date) RETURNS void LANGUAGE sql STRICT
SET search_path FROM CURRENT AS $$ SELECT add_month('fact_changes', 'chg_', day) $$;
--> statement-breakpoint
CREATE FUNCTION add_fact_problems_month(day date) RETURNS void LANGUAGE sql STRICT
SET search_path FROM CURRENT AS $$ SELECT add_month('fact_problems', 'prb_', day) $$;
--> statement-breakpoint
CREATE FUNCTION add_fact_sla_clocks_month(day date) RETURNS void LANGUAGE sql STRICT
SET search_path FROM CURRENT AS $$ SELECT add_month('fact_sla_clocks', 'tmr_', day) $$;
--> statement-breakpoint
CREATE FUNCTION add_fact_runs_month(day date) RETURNS void LANGUAGE sql STRICT
SET search_path FROM CURRENT AS $$ SELECT add_month('fact_runs', 'run_', day) $$;
--> statement-breakpoint
CREATE FUNCTION add_fact_executions_month(day date) RETURNS void LANGUAGE sql STRICT
SET search_path FROM CURRENT AS $$ SELECT add_month('fact_executions', 'exec_', day) $$;
--> statement-breakpoint
CREATE FUNCTION add_fact_deliveries_month(day date) RETURNS void LANGUAGE sql STRICT
SET search_path FROM CURRENT AS $$ SELECT add_month('fact_deliveries', 'del_', day) $$;
--> statement-breakpoint
CREATE FUNCTION add_fact_records_month(day date) RETURNS void LANGUAGE sql STRICT
SET search_path FROM CURRENT AS $$ SELECT add_month('fact_records', 'evt_', day) $$;
--> statement-breakpoint
CREATE FUNCTION add_fact_events_month(day date) RETURNS void LANGUAGE sql STRICT
SET search_path FROM CURRENT AS $$ SELECT add_month('fact_events', 'evt_', day) $$;

--> statement-breakpoint
ALTER TABLE "rollup_definitions" DISABLE ROW LEVEL SECURITY;--> statement-breakpoint
DROP TABLE "rollup_definitions" CASCADE;--> statement-breakpoint
DROP INDEX "rollup_marks_due_idx";--> statement-breakpoint
ALTER TABLE "rollup_marks" DROP CONSTRAINT "rollup_marks_pkey";--> statement-breakpoint
ALTER TABLE "rollup_marks" ADD COLUMN "id" text PRIMARY KEY NOT NULL;--> statement-breakpoint
ALTER TABLE "rollup_marks" ADD COLUMN "held_until" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "rollup_marks" ADD COLUMN "failures" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "rollup_marks" ADD COLUMN "last_error" text;--> statement-breakpoint
CREATE INDEX "rollup_marks_dataset_idx" ON "rollup_marks" USING btree ("workspace_id","environment","dataset");--> statement-breakpoint
CREATE INDEX "rollup_marks_turn_idx" ON "rollup_marks" USING btree (workspace_id,coalesce(greatest(due_at, held_until), 'infinity'::timestamptz)) WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX "rollup_marks_due_idx" ON "rollup_marks" USING btree (greatest(due_at, held_until)) WHERE due_at is not null;
--> statement-breakpoint
CREATE TABLE "fact_rebuilds" (
	"source" text PRIMARY KEY NOT NULL,
	"position" bigint NOT NULL,
	"due_at" timestamp with time zone NOT NULL,
	"held_until" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"lease_owner" text,
	"lease_fence" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE INDEX "fact_rebuilds_due_idx" ON "fact_rebuilds" USING btree (greatest(due_at, held_until)) WHERE due_at is not null;
--> statement-breakpoint
CREATE TABLE "export_jobs" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"phase" text NOT NULL,
	"due_at" timestamp(3) with time zone,
	"cancelled" boolean DEFAULT false NOT NULL,
	"owner" json NOT NULL,
	"request_id" text,
	"plan" json NOT NULL,
	"row_cursor" text,
	"writer" json,
	"opened" json,
	"ended" boolean DEFAULT false NOT NULL,
	"parts" integer DEFAULT 0 NOT NULL,
	"row_count" bigint DEFAULT 0 NOT NULL,
	"bytes" bigint DEFAULT 0 NOT NULL,
	"held_until" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"lease_owner" text,
	"lease_fence" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "export_links" (
	"id" text PRIMARY KEY NOT NULL,
	"export_id" text NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"expires_at" timestamp(3) with time zone NOT NULL,
	"revoked_at" timestamp(3) with time zone,
	"downloads" integer DEFAULT 0 NOT NULL,
	"last_used_at" timestamp(3) with time zone
);
--> statement-breakpoint
CREATE TABLE "export_objects" (
	"name" text PRIMARY KEY NOT NULL,
	"export_id" text NOT NULL,
	"workspace_id" text NOT NULL,
	"part" integer,
	"bytes" bigint NOT NULL,
	"sha256" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "exports" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED
);
--> statement-breakpoint
CREATE TABLE "kpi_evaluations" (
	"id" text PRIMARY KEY NOT NULL,
	"kpi_id" text NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"at" timestamp(3) with time zone NOT NULL,
	"backfill" boolean NOT NULL,
	"replace" boolean NOT NULL,
	"due_at" timestamp(3) with time zone,
	"held_until" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"lease_owner" text,
	"lease_fence" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "kpi_points" (
	"kpi_id" text NOT NULL,
	"at" timestamp(3) with time zone NOT NULL,
	"covers_from" timestamp(3) with time zone NOT NULL,
	"covers_to" timestamp(3) with time zone NOT NULL,
	"time_zone" text NOT NULL,
	"value" double precision,
	"target" double precision,
	"status" text NOT NULL,
	"measured_at" timestamp(3) with time zone NOT NULL,
	"backfilled" boolean NOT NULL,
	CONSTRAINT "kpi_points_pkey" PRIMARY KEY("kpi_id","at")
);
--> statement-breakpoint
CREATE TABLE "kpi_standings" (
	"kpi_id" text PRIMARY KEY NOT NULL,
	"status" text,
	"at" timestamp(3) with time zone,
	"error" text
);
--> statement-breakpoint
CREATE TABLE "kpis" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED
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
CREATE INDEX "export_jobs_due_idx" ON "export_jobs" USING btree (greatest(due_at, held_until)) WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX "export_jobs_turn_idx" ON "export_jobs" USING btree (workspace_id,coalesce(greatest(due_at, held_until), 'infinity'::timestamptz)) WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX "export_jobs_workspace_idx" ON "export_jobs" USING btree ("workspace_id");--> statement-breakpoint
CREATE INDEX "export_links_export_idx" ON "export_links" USING btree ("export_id","id");--> statement-breakpoint
CREATE INDEX "export_links_creator_idx" ON "export_links" USING btree ("workspace_id","created_by") WHERE revoked_at is null;--> statement-breakpoint
CREATE INDEX "export_objects_export_idx" ON "export_objects" USING btree ("export_id","part");--> statement-breakpoint
CREATE INDEX "export_objects_workspace_idx" ON "export_objects" USING btree ("workspace_id");--> statement-breakpoint
CREATE INDEX "exports_created_idx" ON "exports" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "exports_status_idx" ON "exports" USING btree ("workspace_id","environment","status","created_at","id");--> statement-breakpoint
CREATE INDEX "kpi_evaluations_due_idx" ON "kpi_evaluations" USING btree (greatest(due_at, held_until)) WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX "kpi_evaluations_turn_idx" ON "kpi_evaluations" USING btree (workspace_id,coalesce(greatest(due_at, held_until), 'infinity'::timestamptz)) WHERE due_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "kpi_evaluations_kpi_idx" ON "kpi_evaluations" USING btree ("kpi_id","backfill","at");--> statement-breakpoint
CREATE INDEX "kpis_created_idx" ON "kpis" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "schedules_due_idx" ON "schedules" USING btree (greatest(planned_at, held_until)) WHERE paused_at is null and planned_at is not null;--> statement-breakpoint
CREATE INDEX "schedules_turn_idx" ON "schedules" USING btree (workspace_id,coalesce(greatest(planned_at, held_until), 'infinity'::timestamptz)) WHERE paused_at is null and planned_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "schedules_owner_idx" ON "schedules" USING btree ("owner_kind","owner_id");
--> statement-breakpoint
CREATE TABLE "fact_feeds" (
	"dataset" text PRIMARY KEY NOT NULL,
	"position" bigint DEFAULT 0 NOT NULL,
	"as_of" timestamp(3) with time zone,
	"due_at" timestamp with time zone DEFAULT now() NOT NULL,
	"held_until" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"lease_owner" text,
	"lease_fence" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE INDEX "fact_feeds_due_idx" ON "fact_feeds" USING btree (greatest(due_at, held_until)) WHERE due_at is not null;
--> statement-breakpoint
INSERT INTO "fact_feeds" ("dataset") VALUES ('deliveries'), ('executions');
