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
ALTER TABLE "changes" ADD COLUMN "template_id" text GENERATED ALWAYS AS (state->>'templateId') STORED;--> statement-breakpoint
ALTER TABLE "problems" ADD COLUMN "change_ids" jsonb GENERATED ALWAYS AS ((state->'changeIds')::jsonb) STORED;--> statement-breakpoint
CREATE INDEX "change_templates_created_idx" ON "change_templates" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "change_templates_updated_idx" ON "change_templates" USING btree ("workspace_id","environment","updated_at","id");--> statement-breakpoint
CREATE INDEX "change_templates_name_idx" ON "change_templates" USING btree ("workspace_id","environment","name","id");--> statement-breakpoint
CREATE INDEX "change_templates_status_idx" ON "change_templates" USING btree ("workspace_id","environment","status","created_at","id");--> statement-breakpoint
CREATE INDEX "change_templates_search_idx" ON "change_templates" USING gin ("workspace_id","search") WITH (fastupdate=true,gin_pending_list_limit=512);--> statement-breakpoint
CREATE INDEX "changes_template_idx" ON "changes" USING btree ("workspace_id","environment","template_id","created_at","id") WHERE "changes"."template_id" is not null;--> statement-breakpoint
CREATE INDEX "problems_change_idx" ON "problems" USING gin ("workspace_id","environment","change_ids");