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
	"version" integer NOT NULL,
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
	"version" integer NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL
) PARTITION BY RANGE ("id");
--> statement-breakpoint
CREATE TABLE "fact_executions" (
	"artifact_slug" text,
	"artifact_version" bigint,
	"trigger_type" text,
	"status" text,
	"error_code" text,
	"duration_ms" bigint,
	"memory_peak_mb" bigint,
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
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
	"version" integer NOT NULL,
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
	"version" integer NOT NULL,
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
	"version" integer NOT NULL,
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
	"version" integer NOT NULL,
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
	"version" integer NOT NULL,
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
CREATE FUNCTION add_fact_records_month(day date) RETURNS void LANGUAGE sql STRICT
SET search_path FROM CURRENT AS $$ SELECT add_month('fact_records', 'evt_', day) $$;
--> statement-breakpoint
CREATE FUNCTION add_fact_events_month(day date) RETURNS void LANGUAGE sql STRICT
SET search_path FROM CURRENT AS $$ SELECT add_month('fact_events', 'evt_', day) $$;
