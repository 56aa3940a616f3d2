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
ALTER TABLE "workflows" ADD COLUMN "trigger_keys" text[] GENERATED ALWAYS AS (trigger_keys(state::jsonb)) STORED;--> statement-breakpoint
ALTER TABLE "schedule_fires" ADD CONSTRAINT "schedule_fires_schedule_id_schedules_id_fk" FOREIGN KEY ("schedule_id") REFERENCES "schedules"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "schedules_due_idx" ON "schedules" USING btree (greatest(planned_at, held_until)) WHERE paused_at is null and planned_at is not null;--> statement-breakpoint
CREATE INDEX "schedules_turn_idx" ON "schedules" USING btree (workspace_id,coalesce(greatest(planned_at, held_until), 'infinity'::timestamptz)) WHERE paused_at is null and planned_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "schedules_owner_idx" ON "schedules" USING btree ("owner_kind","owner_id");--> statement-breakpoint
CREATE INDEX "skipped_triggers_time_idx" ON "skipped_triggers" USING btree ("workflow_id","triggered_at");--> statement-breakpoint
CREATE INDEX "workflows_trigger_idx" ON "workflows" USING gin ("trigger_keys") WITH (fastupdate=false);
