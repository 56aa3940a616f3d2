-- Written by drizzle-kit, but these functions, that runs and their journals are partitioned by the month (UTC) in their ids,
-- and the end.
-- What starts a workflow while it is active: `workspace/environment/type or pattern`, or `…/bus:topic`.
CREATE FUNCTION "trigger_keys"("state" jsonb) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE WHEN state->>'status' <> 'active' THEN '{}'::text[]
		WHEN state->'trigger'->>'type' = 'event' THEN array(
			SELECT (state->>'place') || '/' || pattern
			FROM jsonb_array_elements_text(state->'trigger'->'events') AS pattern)
		WHEN state->'trigger'->>'type' = 'event_bus' THEN
			ARRAY[(state->>'place') || '/bus:' || (state->'trigger'->>'topic')]
		ELSE '{}'::text[] END
$$;
--> statement-breakpoint
CREATE FUNCTION "texts_of"("list" jsonb) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
	SELECT array(SELECT jsonb_array_elements_text("list"))
$$;
--> statement-breakpoint
CREATE TABLE "revoked_versions" (
	"version_id" text PRIMARY KEY NOT NULL
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
CREATE TABLE "skipped_triggers" (
	"workflow_id" text NOT NULL,
	"trigger_id" text NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"trigger_type" text NOT NULL,
	"triggered_at" timestamp(3) with time zone NOT NULL,
	"reason" text NOT NULL,
	CONSTRAINT "skipped_triggers_pkey" PRIMARY KEY("workflow_id","trigger_id")
);
--> statement-breakpoint
CREATE TABLE "workflow_drafts" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED
);
--> statement-breakpoint
CREATE TABLE "workflow_versions" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"workflow_id" text GENERATED ALWAYS AS (state->>'workflowId') STORED,
	"number" integer GENERATED ALWAYS AS ((state->>'number')::integer) STORED,
	"awaited_keys" text[] GENERATED ALWAYS AS (texts_of(state::jsonb->'awaitedKeys')) STORED
);
--> statement-breakpoint
CREATE TABLE "workflows" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"name" text GENERATED ALWAYS AS (state->>'name') STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED,
	"updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED,
	"trigger_type" text GENERATED ALWAYS AS (state->>'triggerType') STORED,
	"owner_id" text GENERATED ALWAYS AS (state->>'ownerId') STORED,
	"hook_id" text GENERATED ALWAYS AS (state->>'hookId') STORED,
	"promoted_name" text GENERATED ALWAYS AS (state->>'promotedName') STORED,
	"trigger_keys" text[] GENERATED ALWAYS AS (trigger_keys(state::jsonb)) STORED
);
--> statement-breakpoint
CREATE TABLE "recent_events" (
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "recent_events_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"source" text NOT NULL,
	"position" bigint NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"type" text NOT NULL,
	"body" json NOT NULL,
	"request_id" text,
	"kept_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "recent_events_pkey" PRIMARY KEY("source","position")
);
--> statement-breakpoint
CREATE TABLE "run_approvers" (
	"run_id" text NOT NULL,
	"task" text NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"approver" text NOT NULL,
	CONSTRAINT "run_approvers_pkey" PRIMARY KEY("run_id","task","approver")
);
--> statement-breakpoint
CREATE TABLE "run_concurrency" (
	"key" text PRIMARY KEY NOT NULL,
	"run_limit" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "run_entries" (
	"run_id" text NOT NULL,
	"seq" integer NOT NULL,
	"at" bigint NOT NULL,
	"entry" json NOT NULL,
	"large_field" text,
	"large" json,
	"large_bytes" integer,
	CONSTRAINT "run_entries_pkey" PRIMARY KEY("run_id","seq")
) PARTITION BY RANGE ("run_id");
--> statement-breakpoint
CREATE TABLE "run_event_waits" (
	"run_id" text NOT NULL,
	"task" text NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"types" text[] NOT NULL,
	"filter" json,
	"since" json NOT NULL,
	CONSTRAINT "run_event_waits_pkey" PRIMARY KEY("run_id","task")
);
--> statement-breakpoint
CREATE TABLE "run_signals" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "run_signals_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"run_id" text NOT NULL,
	"signal" json NOT NULL,
	"actor" json,
	"request_id" text
);
--> statement-breakpoint
CREATE TABLE "run_triggers" (
	"workflow_id" text NOT NULL,
	"key" text NOT NULL,
	"run_id" text NOT NULL,
	CONSTRAINT "run_triggers_pkey" PRIMARY KEY("workflow_id","key")
);
--> statement-breakpoint
CREATE TABLE "runs" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"workflow_id" text NOT NULL,
	"workflow_name" text NOT NULL,
	"workflow_version" integer NOT NULL,
	"trigger_type" text NOT NULL,
	"status" text NOT NULL,
	"attempt" integer DEFAULT 1 NOT NULL,
	"error" json,
	"queued_at" timestamp(3) with time zone NOT NULL,
	"started_at" timestamp(3) with time zone,
	"ended_at" timestamp(3) with time zone,
	"parent_run_id" text,
	"parent_waits" boolean DEFAULT false NOT NULL,
	"concurrency_key" text,
	"seq" integer NOT NULL,
	"bytes" bigint NOT NULL,
	"signals" integer DEFAULT 0 NOT NULL,
	"awaits_events" boolean DEFAULT false NOT NULL,
	"due_at" timestamp(3) with time zone,
	"held_until" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"lease_owner" text,
	"lease_fence" bigint DEFAULT 0 NOT NULL
) PARTITION BY RANGE ("id");
--> statement-breakpoint
ALTER TABLE "schedule_fires" ADD CONSTRAINT "schedule_fires_schedule_id_schedules_id_fk" FOREIGN KEY ("schedule_id") REFERENCES "schedules"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "schedules_due_idx" ON "schedules" USING btree (greatest(planned_at, held_until)) WHERE paused_at is null and planned_at is not null;--> statement-breakpoint
CREATE INDEX "schedules_turn_idx" ON "schedules" USING btree (workspace_id,coalesce(greatest(planned_at, held_until), 'infinity'::timestamptz)) WHERE paused_at is null and planned_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "schedules_owner_idx" ON "schedules" USING btree ("owner_kind","owner_id");--> statement-breakpoint
CREATE INDEX "skipped_triggers_time_idx" ON "skipped_triggers" USING btree ("workflow_id","triggered_at","trigger_id");--> statement-breakpoint
CREATE INDEX "skipped_triggers_tenant_idx" ON "skipped_triggers" USING btree ("workspace_id","triggered_at");--> statement-breakpoint
CREATE INDEX "workflow_versions_workflow_idx" ON "workflow_versions" USING btree ("workspace_id","environment","workflow_id","number","id") WHERE number > 0;--> statement-breakpoint
CREATE INDEX "workflow_versions_tests_idx" ON "workflow_versions" USING btree ("workflow_id") WHERE number = 0;--> statement-breakpoint
CREATE INDEX "workflow_versions_awaited_idx" ON "workflow_versions" USING gin ("awaited_keys") WITH (fastupdate=false);--> statement-breakpoint
CREATE INDEX "workflows_created_idx" ON "workflows" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "workflows_updated_idx" ON "workflows" USING btree ("workspace_id","environment","updated_at","id");--> statement-breakpoint
CREATE INDEX "workflows_name_idx" ON "workflows" USING btree ("workspace_id","environment","name","id");--> statement-breakpoint
CREATE INDEX "workflows_owner_idx" ON "workflows" USING btree ("workspace_id","owner_id") WHERE status = 'active';--> statement-breakpoint
CREATE UNIQUE INDEX "workflows_hook_key" ON "workflows" USING btree ("hook_id");--> statement-breakpoint
CREATE UNIQUE INDEX "workflows_promoted_key" ON "workflows" USING btree ("workspace_id","environment","promoted_name") WHERE promoted_name is not null and status <> 'archived';--> statement-breakpoint
CREATE INDEX "workflows_trigger_idx" ON "workflows" USING gin ("trigger_keys") WITH (fastupdate=false);--> statement-breakpoint
CREATE INDEX "recent_events_tenant_idx" ON "recent_events" USING btree ("workspace_id","environment","source","position");--> statement-breakpoint
CREATE INDEX "recent_events_kept_idx" ON "recent_events" USING btree ("kept_at");--> statement-breakpoint
CREATE INDEX "run_approvers_who_idx" ON "run_approvers" USING btree ("workspace_id","environment","approver","run_id");--> statement-breakpoint
CREATE INDEX "run_event_waits_tenant_idx" ON "run_event_waits" USING btree ("workspace_id","environment");--> statement-breakpoint
CREATE INDEX "run_signals_run_idx" ON "run_signals" USING btree ("run_id","id");--> statement-breakpoint
CREATE INDEX "run_triggers_run_idx" ON "run_triggers" USING btree ("run_id");--> statement-breakpoint
CREATE INDEX "runs_list_idx" ON "runs" USING btree ("workspace_id","environment","id");--> statement-breakpoint
CREATE INDEX "runs_status_idx" ON "runs" USING btree ("workspace_id","environment","status","id");--> statement-breakpoint
CREATE INDEX "runs_trigger_idx" ON "runs" USING btree ("workspace_id","environment","trigger_type","id");--> statement-breakpoint
CREATE INDEX "runs_workflow_idx" ON "runs" USING btree ("workflow_id","id");--> statement-breakpoint
CREATE INDEX "runs_workflow_status_idx" ON "runs" USING btree ("workflow_id","status","id");--> statement-breakpoint
CREATE INDEX "runs_parent_idx" ON "runs" USING btree ("parent_run_id") WHERE parent_run_id is not null;--> statement-breakpoint
CREATE INDEX "runs_concurrency_idx" ON "runs" USING btree ("concurrency_key","id") WHERE concurrency_key is not null and ended_at is null;--> statement-breakpoint
CREATE INDEX "runs_awaiting_idx" ON "runs" USING btree ("workspace_id","environment","queued_at") WHERE awaits_events and ended_at is null;--> statement-breakpoint
CREATE INDEX "runs_due_idx" ON "runs" USING btree (greatest(due_at, held_until)) WHERE ended_at is null;--> statement-breakpoint
CREATE INDEX "runs_turn_idx" ON "runs" USING btree (workspace_id,coalesce(greatest(due_at, held_until), 'infinity'::timestamptz)) WHERE ended_at is null;
--> statement-breakpoint
-- Makes the partitions of the month of a day, if need be.
CREATE FUNCTION add_run_month(day date) RETURNS void LANGUAGE sql STRICT
SET search_path FROM CURRENT AS $$ SELECT add_month('runs', 'run_', day), add_month('run_entries', 'run_', day) $$;
--> statement-breakpoint
-- Drops the runs of a month and their journals, unless one of them has not ended or is to be kept; returns whether it did.
-- Runs are kept that ended after `kept_since`, as are those of workspaces that keep them for longer (`longer`).
CREATE FUNCTION drop_run_month(day date, kept_since timestamp with time zone, longer text[]) RETURNS boolean
LANGUAGE plpgsql STRICT SECURITY DEFINER
SET search_path FROM CURRENT AS $$
DECLARE
	partition text := to_char(day, '"runs_"YYYYMM');
	journal text := to_char(day, '"run_entries_"YYYYMM');
	beside text;
	kept boolean;
BEGIN
	IF to_regclass(partition) IS NULL THEN
		RETURN false;
	END IF;
	EXECUTE format('SELECT EXISTS (SELECT FROM %I WHERE ended_at IS NULL OR ended_at >= $1 OR workspace_id = ANY ($2))', partition)
		INTO kept USING kept_since, longer;
	IF kept THEN
		RETURN false;
	END IF;
	-- Whoever comes after this waits for a moment only. One of them may have been retried meanwhile.
	PERFORM set_config('lock_timeout', '800ms', true);
	EXECUTE format('LOCK TABLE %I IN SHARE ROW EXCLUSIVE MODE', partition);
	EXECUTE format('SELECT EXISTS (SELECT FROM %I WHERE ended_at IS NULL)', partition) INTO kept;
	IF kept THEN
		RETURN false;
	END IF;
	FOREACH beside IN ARRAY ARRAY['run_triggers', 'run_signals', 'run_event_waits', 'run_approvers'] LOOP
		EXECUTE format('DELETE FROM %I USING %I gone WHERE run_id = gone.id', beside, partition);
	END LOOP;
	EXECUTE format('DROP TABLE %I', partition);
	EXECUTE format('DROP TABLE IF EXISTS %I', journal);
	RETURN true;
END
$$;
--> statement-breakpoint
CREATE FUNCTION "refuse_version_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'version % of a workflow never changes', OLD.id;
END $$;--> statement-breakpoint
CREATE TRIGGER "workflow_versions_are_kept" BEFORE UPDATE ON "workflow_versions" FOR EACH ROW EXECUTE FUNCTION "refuse_version_change"();
--> statement-breakpoint
-- Events of runs are no folds of a state: rebuilding passes them over.
INSERT INTO "journals" VALUES ('runs');
