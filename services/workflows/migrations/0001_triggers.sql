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
CREATE INDEX "skipped_triggers_time_idx" ON "skipped_triggers" USING btree ("workflow_id","triggered_at");--> statement-breakpoint
CREATE INDEX "workflows_trigger_idx" ON "workflows" USING gin ("trigger_keys") WITH (fastupdate=false);