CREATE TABLE "problems" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"number_value" integer GENERATED ALWAYS AS (substring(state->>'number' from 5)::integer) STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED,
	"priority" text GENERATED ALWAYS AS (state->>'priority') STORED,
	"assignee_id" text GENERATED ALWAYS AS (state->>'assigneeId') STORED,
	"assignment_group" text GENERATED ALWAYS AS (state->>'assignmentGroup') STORED,
	"known_error" boolean GENERATED ALWAYS AS ((state->>'knownError')::boolean) STORED,
	"ci_ids" jsonb GENERATED ALWAYS AS ((state->'ciIds')::jsonb) STORED,
	"tags" jsonb GENERATED ALWAYS AS ((state->'tags')::jsonb) STORED,
	"updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED
);
--> statement-breakpoint
ALTER TABLE "incidents" ADD COLUMN "problem_id" text GENERATED ALWAYS AS (state->>'problemId') STORED;--> statement-breakpoint
CREATE UNIQUE INDEX "problems_number_key" ON "problems" USING btree ("workspace_id","number_value");--> statement-breakpoint
CREATE INDEX "problems_created_idx" ON "problems" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "problems_updated_idx" ON "problems" USING btree ("workspace_id","environment","updated_at","id");--> statement-breakpoint
CREATE INDEX "problems_status_idx" ON "problems" USING btree ("workspace_id","environment","status","created_at","id");--> statement-breakpoint
CREATE INDEX "problems_priority_idx" ON "problems" USING btree ("workspace_id","environment","priority","created_at","id");--> statement-breakpoint
CREATE INDEX "problems_assignee_idx" ON "problems" USING btree ("workspace_id","environment","assignee_id","created_at","id") WHERE "problems"."assignee_id" is not null;--> statement-breakpoint
CREATE INDEX "problems_group_idx" ON "problems" USING btree ("workspace_id","environment","assignment_group","created_at","id") WHERE "problems"."assignment_group" is not null;--> statement-breakpoint
CREATE INDEX "problems_known_error_idx" ON "problems" USING btree ("workspace_id","environment","created_at","id") WHERE known_error;--> statement-breakpoint
CREATE INDEX "problems_ci_idx" ON "problems" USING gin ("workspace_id","environment","ci_ids");--> statement-breakpoint
CREATE INDEX "problems_tag_idx" ON "problems" USING gin ("workspace_id","environment","tags");--> statement-breakpoint
CREATE INDEX "incidents_problem_idx" ON "incidents" USING btree ("workspace_id","environment","problem_id","created_at","id") WHERE "incidents"."problem_id" is not null;