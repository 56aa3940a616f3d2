DROP INDEX "knowledge_published_language_idx";--> statement-breakpoint
ALTER TABLE "ci_classes" ADD COLUMN "search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'name', ''), coalesce(state->>'label', ''), '')) STORED;--> statement-breakpoint
ALTER TABLE "incident_comments" ADD COLUMN "search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'body', ''), '', '')) STORED;--> statement-breakpoint
ALTER TABLE "change_policies" ADD COLUMN "name" text GENERATED ALWAYS AS (state->>'name') STORED,
  ADD COLUMN "updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED,
  ADD COLUMN "search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'name', ''), '', '')) STORED;--> statement-breakpoint
ALTER TABLE "change_windows" ADD COLUMN "name" text GENERATED ALWAYS AS (state->>'name') STORED,
  ADD COLUMN "updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED,
  ADD COLUMN "search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'name', ''), '', coalesce(state->>'reason', ''))) STORED;--> statement-breakpoint
ALTER TABLE "knowledge_published" ADD COLUMN "number_value" integer GENERATED ALWAYS AS (substring(state->>'number' from 4)::integer) STORED,
  ADD COLUMN "updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED;--> statement-breakpoint
ALTER TABLE "knowledge_versions" ADD COLUMN "list_search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'number', '') || ' ' || coalesce(state->>'title', ''), coalesce(state->>'tags', ''), coalesce(state->>'summary', ''))) STORED;--> statement-breakpoint
ALTER TABLE "sla_calendars" ADD COLUMN "name" text GENERATED ALWAYS AS (state->>'name') STORED,
  ADD COLUMN "time_zone" text GENERATED ALWAYS AS (state->>'timeZone') STORED,
  ADD COLUMN "updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED,
  ADD COLUMN "search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'name', ''), coalesce(state->>'timeZone', ''), '')) STORED;--> statement-breakpoint
ALTER TABLE "sla_policies" ADD COLUMN "entity_type" text GENERATED ALWAYS AS (state->>'entityType') STORED,
  ADD COLUMN "metric" text GENERATED ALWAYS AS (state->>'metric') STORED,
  ADD COLUMN "calendar_id" text GENERATED ALWAYS AS (state->>'calendarId') STORED,
  ADD COLUMN "name" text GENERATED ALWAYS AS (state->>'name') STORED,
  ADD COLUMN "updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED,
  ADD COLUMN "search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'name', ''), '', '')) STORED;--> statement-breakpoint
ALTER TABLE "sla_timers" ADD COLUMN "search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'entityNumber', ''), coalesce(state->>'policyName', ''), '')) STORED;--> statement-breakpoint
CREATE INDEX "ci_classes_search_idx" ON "ci_classes" USING gin ("workspace_id","search") WITH (fastupdate=true,gin_pending_list_limit=512);--> statement-breakpoint
CREATE INDEX "ci_relations_type_idx" ON "ci_relations" USING btree ("workspace_id","environment","type","created_at","id");--> statement-breakpoint
CREATE INDEX "change_policies_updated_idx" ON "change_policies" USING btree ("workspace_id","environment","updated_at","id");--> statement-breakpoint
CREATE INDEX "change_policies_name_idx" ON "change_policies" USING btree ("workspace_id","environment","name","id");--> statement-breakpoint
CREATE INDEX "change_policies_status_idx" ON "change_policies" USING btree ("workspace_id","environment","status","created_at","id");--> statement-breakpoint
CREATE INDEX "change_policies_search_idx" ON "change_policies" USING gin ("workspace_id","search") WITH (fastupdate=true,gin_pending_list_limit=512);--> statement-breakpoint
CREATE INDEX "change_windows_status_idx" ON "change_windows" USING btree ("workspace_id","environment","status","created_at","id");--> statement-breakpoint
CREATE INDEX "change_windows_updated_idx" ON "change_windows" USING btree ("workspace_id","environment","updated_at","id");--> statement-breakpoint
CREATE INDEX "change_windows_name_idx" ON "change_windows" USING btree ("workspace_id","environment","name","id");--> statement-breakpoint
CREATE INDEX "change_windows_search_idx" ON "change_windows" USING gin ("workspace_id","search") WITH (fastupdate=true,gin_pending_list_limit=512);--> statement-breakpoint
CREATE INDEX "knowledge_articles_category_idx" ON "knowledge_articles" USING btree ("workspace_id","environment","category","created_at","id");--> statement-breakpoint
CREATE INDEX "knowledge_articles_language_idx" ON "knowledge_articles" USING btree ("workspace_id","environment","language","created_at","id");--> statement-breakpoint
CREATE INDEX "knowledge_articles_tag_idx" ON "knowledge_articles" USING gin ("workspace_id","environment","tags");--> statement-breakpoint
CREATE INDEX "knowledge_published_updated_idx" ON "knowledge_published" USING btree ("workspace_id","environment","updated_at","id");--> statement-breakpoint
CREATE INDEX "knowledge_published_number_idx" ON "knowledge_published" USING btree ("workspace_id","environment","number_value","id");--> statement-breakpoint
CREATE INDEX "knowledge_published_category_idx" ON "knowledge_published" USING btree ("workspace_id","environment","category","created_at","id");--> statement-breakpoint
CREATE INDEX "knowledge_published_tag_idx" ON "knowledge_published" USING gin ("workspace_id","environment","tags");--> statement-breakpoint
CREATE INDEX "sla_calendars_updated_idx" ON "sla_calendars" USING btree ("workspace_id","environment","updated_at","id");--> statement-breakpoint
CREATE INDEX "sla_calendars_name_idx" ON "sla_calendars" USING btree ("workspace_id","environment","name","id");--> statement-breakpoint
CREATE INDEX "sla_calendars_search_idx" ON "sla_calendars" USING gin ("workspace_id","search") WITH (fastupdate=true,gin_pending_list_limit=512);--> statement-breakpoint
CREATE INDEX "sla_policies_updated_idx" ON "sla_policies" USING btree ("workspace_id","environment","updated_at","id");--> statement-breakpoint
CREATE INDEX "sla_policies_name_idx" ON "sla_policies" USING btree ("workspace_id","environment","name","id");--> statement-breakpoint
CREATE INDEX "sla_policies_status_idx" ON "sla_policies" USING btree ("workspace_id","environment","status","created_at","id");--> statement-breakpoint
CREATE INDEX "sla_policies_entity_idx" ON "sla_policies" USING btree ("workspace_id","environment","entity_type","created_at","id");--> statement-breakpoint
CREATE INDEX "sla_policies_calendar_idx" ON "sla_policies" USING btree ("workspace_id","environment","calendar_id","created_at","id");--> statement-breakpoint
CREATE INDEX "sla_policies_search_idx" ON "sla_policies" USING gin ("workspace_id","search") WITH (fastupdate=true,gin_pending_list_limit=512);--> statement-breakpoint
CREATE INDEX "sla_timers_search_idx" ON "sla_timers" USING gin ("workspace_id","search") WITH (fastupdate=true,gin_pending_list_limit=512);--> statement-breakpoint
CREATE INDEX "knowledge_published_language_idx" ON "knowledge_published" USING btree ("workspace_id","environment","language","created_at","id");