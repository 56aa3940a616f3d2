CREATE TABLE "change_policies" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED,
	"policy_order" integer GENERATED ALWAYS AS ((state->>'order')::integer) STORED
);
--> statement-breakpoint
CREATE TABLE "changes" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"number_value" integer GENERATED ALWAYS AS (substring(state->>'number' from 5)::integer) STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED,
	"type" text GENERATED ALWAYS AS (state->>'type') STORED,
	"risk" text GENERATED ALWAYS AS (state->>'risk') STORED,
	"assignee_id" text GENERATED ALWAYS AS (state->>'assigneeId') STORED,
	"assignment_group" text GENERATED ALWAYS AS (state->>'assignmentGroup') STORED,
	"requester_id" text GENERATED ALWAYS AS (state->>'requesterId') STORED,
	"problem_id" text GENERATED ALWAYS AS (state->>'problemId') STORED,
	"planned_start" text GENERATED ALWAYS AS (state->>'plannedStart') STORED,
	"planned_end" text GENERATED ALWAYS AS (state->>'plannedEnd') STORED,
	"planned_order" text GENERATED ALWAYS AS (coalesce(state->>'plannedStart', '9999')) STORED,
	"updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED,
	"ci_ids" jsonb GENERATED ALWAYS AS ((state->'ciIds')::jsonb) STORED
);
--> statement-breakpoint
CREATE INDEX "change_policies_created_idx" ON "change_policies" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "change_policies_order_idx" ON "change_policies" USING btree ("workspace_id","environment","policy_order","id");--> statement-breakpoint
CREATE UNIQUE INDEX "changes_number_key" ON "changes" USING btree ("workspace_id","number_value");--> statement-breakpoint
CREATE INDEX "changes_created_idx" ON "changes" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "changes_updated_idx" ON "changes" USING btree ("workspace_id","environment","updated_at","id");--> statement-breakpoint
CREATE INDEX "changes_planned_idx" ON "changes" USING btree ("workspace_id","environment","planned_order","id");--> statement-breakpoint
CREATE INDEX "changes_status_idx" ON "changes" USING btree ("workspace_id","environment","status","created_at","id");--> statement-breakpoint
CREATE INDEX "changes_assignee_idx" ON "changes" USING btree ("workspace_id","environment","assignee_id","created_at","id") WHERE "changes"."assignee_id" is not null;--> statement-breakpoint
CREATE INDEX "changes_group_idx" ON "changes" USING btree ("workspace_id","environment","assignment_group","created_at","id") WHERE "changes"."assignment_group" is not null;--> statement-breakpoint
CREATE INDEX "changes_requester_idx" ON "changes" USING btree ("workspace_id","environment","requester_id","created_at","id");--> statement-breakpoint
CREATE INDEX "changes_problem_idx" ON "changes" USING btree ("workspace_id","environment","problem_id","created_at","id") WHERE "changes"."problem_id" is not null;--> statement-breakpoint
CREATE INDEX "changes_ci_idx" ON "changes" USING gin ("ci_ids");