-- brief: an environment has few scheduled jobs
ALTER TABLE "jobs" ADD COLUMN "owner_id" text GENERATED ALWAYS AS (state->>'ownerId') STORED;--> statement-breakpoint
-- brief: as above
CREATE INDEX "jobs_owner_idx" ON "jobs" USING btree ("workspace_id","owner_id");
