CREATE TABLE "catalog_item_revisions" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"item_id" text GENERATED ALWAYS AS (state->>'itemId') STORED,
	"revision" integer GENERATED ALWAYS AS ((state->>'revision')::integer) STORED
);
--> statement-breakpoint
CREATE TABLE "catalog_items" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED,
	"category" text GENERATED ALWAYS AS (state->>'category') STORED,
	"name" text GENERATED ALWAYS AS (state->>'name') STORED,
	"updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED,
	"tags" jsonb GENERATED ALWAYS AS ((state->'tags')::jsonb) STORED
);
--> statement-breakpoint
CREATE TABLE "catalog_requests" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"number_value" integer GENERATED ALWAYS AS (substring(state->>'number' from 5)::integer) STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED,
	"item_id" text GENERATED ALWAYS AS (state->>'itemId') STORED,
	"requester_id" text GENERATED ALWAYS AS (state->>'requesterId') STORED,
	"requested_for" text GENERATED ALWAYS AS (state->>'requestedFor') STORED,
	"updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED,
	"approver_ids" jsonb GENERATED ALWAYS AS (jsonb_path_query_array((state->'approvals')::jsonb, '$[*].approverIds[*]')) STORED,
	"awaited_ids" jsonb GENERATED ALWAYS AS (jsonb_path_query_array((state->'approvals')::jsonb, '$[*] ? (@.status == "pending").approverIds[*]')) STORED,
	"decided_ids" jsonb GENERATED ALWAYS AS (jsonb_path_query_array((state->'approvals')::jsonb, '$[*] ? (@.status == "pending").decisions[*].userId')) STORED,
	"assignee_ids" jsonb GENERATED ALWAYS AS (jsonb_path_query_array((state->'tasks')::jsonb, '$[*] ? (@.status == "open" || @.status == "in_progress").assigneeId')) STORED
);
--> statement-breakpoint
CREATE INDEX "catalog_items_created_idx" ON "catalog_items" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "catalog_items_name_idx" ON "catalog_items" USING btree ("workspace_id","environment","name","id");--> statement-breakpoint
CREATE INDEX "catalog_items_updated_idx" ON "catalog_items" USING btree ("workspace_id","environment","updated_at","id");--> statement-breakpoint
CREATE INDEX "catalog_items_status_idx" ON "catalog_items" USING btree ("workspace_id","environment","status","created_at","id");--> statement-breakpoint
CREATE INDEX "catalog_items_category_idx" ON "catalog_items" USING btree ("workspace_id","environment","category","created_at","id");--> statement-breakpoint
CREATE INDEX "catalog_items_tags_idx" ON "catalog_items" USING gin ("workspace_id","environment","tags");--> statement-breakpoint
CREATE UNIQUE INDEX "catalog_requests_number_key" ON "catalog_requests" USING btree ("workspace_id","number_value");--> statement-breakpoint
CREATE INDEX "catalog_requests_created_idx" ON "catalog_requests" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "catalog_requests_updated_idx" ON "catalog_requests" USING btree ("workspace_id","environment","updated_at","id");--> statement-breakpoint
CREATE INDEX "catalog_requests_status_idx" ON "catalog_requests" USING btree ("workspace_id","environment","status","created_at","id");--> statement-breakpoint
CREATE INDEX "catalog_requests_item_idx" ON "catalog_requests" USING btree ("workspace_id","environment","item_id","created_at","id");--> statement-breakpoint
CREATE INDEX "catalog_requests_requester_idx" ON "catalog_requests" USING btree ("workspace_id","environment","requester_id","created_at","id");--> statement-breakpoint
CREATE INDEX "catalog_requests_for_idx" ON "catalog_requests" USING btree ("workspace_id","environment","requested_for","created_at","id");--> statement-breakpoint
CREATE INDEX "catalog_requests_approver_idx" ON "catalog_requests" USING gin ("workspace_id","environment","approver_ids");--> statement-breakpoint
CREATE INDEX "catalog_requests_awaited_idx" ON "catalog_requests" USING gin ("workspace_id","environment","awaited_ids") WHERE status = 'awaiting_approval';--> statement-breakpoint
CREATE INDEX "catalog_requests_assignee_idx" ON "catalog_requests" USING gin ("workspace_id","environment","assignee_ids") WHERE status = 'fulfilling';