CREATE TABLE "change_templates" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED,
	"name" text GENERATED ALWAYS AS (state->>'name') STORED,
	"updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED,
	"search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'name', '') || ' ' || coalesce(state->>'title', ''), '', coalesce(state->>'description', ''))) STORED
);
--> statement-breakpoint
ALTER TABLE "incidents" ADD COLUMN "ci_id" text GENERATED ALWAYS AS (state->>'ciId') STORED,
  ADD COLUMN "caller_id" text GENERATED ALWAYS AS (state->>'callerId') STORED,
  ADD COLUMN "category" text GENERATED ALWAYS AS (state->>'category') STORED,
  ADD COLUMN "channel" text GENERATED ALWAYS AS (state->>'channel') STORED,
  ADD COLUMN "by_priority" text GENERATED ALWAYS AS (case state->>'priority' when 'P1' then '1 ' when 'P2' then '2 ' when 'P3' then '3 ' when 'P4' then '4 ' when 'P5' then '5 ' else '3 ' end || (state->>'createdAt')) STORED,
  ADD COLUMN "by_severity" text GENERATED ALWAYS AS (case state->>'severity' when 'critical' then '1 ' when 'high' then '2 ' when 'medium' then '3 ' when 'low' then '4 ' else '4 ' end || (state->>'createdAt')) STORED;--> statement-breakpoint
ALTER TABLE "changes" ADD COLUMN "template_id" text GENERATED ALWAYS AS (state->>'templateId') STORED;--> statement-breakpoint
ALTER TABLE "problems" ADD COLUMN "change_ids" jsonb GENERATED ALWAYS AS ((state->'changeIds')::jsonb) STORED;--> statement-breakpoint
CREATE INDEX "change_templates_created_idx" ON "change_templates" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "change_templates_updated_idx" ON "change_templates" USING btree ("workspace_id","environment","updated_at","id");--> statement-breakpoint
CREATE INDEX "change_templates_name_idx" ON "change_templates" USING btree ("workspace_id","environment","name","id");--> statement-breakpoint
CREATE INDEX "change_templates_status_idx" ON "change_templates" USING btree ("workspace_id","environment","status","created_at","id");--> statement-breakpoint
CREATE INDEX "change_templates_search_idx" ON "change_templates" USING gin ("workspace_id","search") WITH (fastupdate=true,gin_pending_list_limit=512);--> statement-breakpoint
CREATE INDEX "incidents_item_idx" ON "incidents" USING btree ("workspace_id","environment","ci_id","created_at","id") WHERE "incidents"."ci_id" is not null;--> statement-breakpoint
CREATE INDEX "incidents_caller_idx" ON "incidents" USING btree ("workspace_id","environment","caller_id","created_at","id") WHERE "incidents"."caller_id" is not null;--> statement-breakpoint
CREATE INDEX "incidents_category_idx" ON "incidents" USING btree ("workspace_id","environment","category","created_at","id") WHERE "incidents"."category" is not null;--> statement-breakpoint
CREATE INDEX "incidents_channel_idx" ON "incidents" USING btree ("workspace_id","environment","channel","created_at","id") WHERE "incidents"."channel" is not null;--> statement-breakpoint
CREATE INDEX "incidents_status_priority_idx" ON "incidents" USING btree ("workspace_id","environment","status","by_priority","id");--> statement-breakpoint
CREATE INDEX "incidents_assignee_priority_idx" ON "incidents" USING btree ("workspace_id","environment","assignee_id","status","by_priority","id") WHERE "incidents"."assignee_id" is not null;--> statement-breakpoint
CREATE INDEX "incidents_group_priority_idx" ON "incidents" USING btree ("workspace_id","environment","assignment_group","status","by_priority","id") WHERE "incidents"."assignment_group" is not null;--> statement-breakpoint
CREATE INDEX "incidents_status_severity_idx" ON "incidents" USING btree ("workspace_id","environment","status","by_severity","id");--> statement-breakpoint
CREATE INDEX "incidents_assignee_severity_idx" ON "incidents" USING btree ("workspace_id","environment","assignee_id","status","by_severity","id") WHERE "incidents"."assignee_id" is not null;--> statement-breakpoint
CREATE INDEX "incidents_group_severity_idx" ON "incidents" USING btree ("workspace_id","environment","assignment_group","status","by_severity","id") WHERE "incidents"."assignment_group" is not null;--> statement-breakpoint
CREATE INDEX "changes_template_idx" ON "changes" USING btree ("workspace_id","environment","template_id","created_at","id") WHERE "changes"."template_id" is not null;--> statement-breakpoint
CREATE INDEX "knowledge_articles_scheduled_idx" ON "knowledge_articles" USING btree ((state->>'publishAt')) WHERE status = 'scheduled';--> statement-breakpoint
CREATE INDEX "problems_change_idx" ON "problems" USING gin ("workspace_id","environment","change_ids");