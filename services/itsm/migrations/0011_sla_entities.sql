ALTER TABLE "sla_timers" ADD COLUMN "entity_type" text GENERATED ALWAYS AS (state->>'entityType') STORED,
	ADD COLUMN "breached" text GENERATED ALWAYS AS (state->>'breached') STORED,
	ADD COLUMN "due_order" text GENERATED ALWAYS AS (coalesce(state->>'dueAt', 'unknown')) STORED;
--> statement-breakpoint
CREATE INDEX "sla_timers_created_idx" ON "sla_timers" USING btree ("workspace_id","environment","created_at","id");
--> statement-breakpoint
CREATE INDEX "sla_timers_due_idx" ON "sla_timers" USING btree ("workspace_id","environment","due_order","id");
--> statement-breakpoint
CREATE INDEX "sla_timers_state_idx" ON "sla_timers" USING btree ("workspace_id","environment","clock_state","due_order","id");
