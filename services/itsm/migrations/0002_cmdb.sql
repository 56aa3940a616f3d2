-- Written by hand: drizzle-kit knows neither extensions nor deferred foreign keys.
CREATE EXTENSION IF NOT EXISTS pg_trgm;--> statement-breakpoint
CREATE EXTENSION IF NOT EXISTS btree_gin;--> statement-breakpoint
-- Where somebody has installed them before they are in a schema of their own, which only this transaction has to see.
SELECT set_config('search_path', current_setting('search_path') || ',' || string_agg(DISTINCT quote_ident(n.nspname), ','), true)
  FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname IN ('pg_trgm', 'btree_gin');--> statement-breakpoint
CREATE TABLE "ci_classes" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"name" text GENERATED ALWAYS AS (state->>'name') STORED
);
--> statement-breakpoint
CREATE TABLE "ci_relations" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"source_id" text GENERATED ALWAYS AS (state->>'sourceId') STORED,
	"target_id" text GENERATED ALWAYS AS (state->>'targetId') STORED,
	"type" text GENERATED ALWAYS AS (state->>'type') STORED
);
--> statement-breakpoint
CREATE TABLE "configuration_items" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"name" text GENERATED ALWAYS AS (state->>'name') STORED,
	"class" text GENERATED ALWAYS AS (state->>'class') STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED,
	"criticality" text GENERATED ALWAYS AS (state->>'criticality') STORED,
	"owner" text GENERATED ALWAYS AS (state->>'owner') STORED,
	"support_group" text GENERATED ALWAYS AS (state->>'supportGroup') STORED,
	"source" text GENERATED ALWAYS AS (state->>'source') STORED,
	"native_key" text GENERATED ALWAYS AS (state->>'nativeKey') STORED,
	"updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED,
	"redundancy" text GENERATED ALWAYS AS (state->>'redundancy') STORED
);
--> statement-breakpoint
ALTER TABLE "ci_relations" ADD CONSTRAINT "ci_relations_source_fkey" FOREIGN KEY ("source_id") REFERENCES "configuration_items"("id") DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "ci_relations" ADD CONSTRAINT "ci_relations_target_fkey" FOREIGN KEY ("target_id") REFERENCES "configuration_items"("id") DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
CREATE UNIQUE INDEX "ci_classes_name_key" ON "ci_classes" USING btree ("workspace_id","environment","name");--> statement-breakpoint
CREATE UNIQUE INDEX "ci_relations_key" ON "ci_relations" USING btree ("source_id","type","target_id");--> statement-breakpoint
CREATE INDEX "ci_relations_target_idx" ON "ci_relations" USING btree ("target_id","type");--> statement-breakpoint
CREATE INDEX "ci_relations_created_idx" ON "ci_relations" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "configuration_items_source_key" ON "configuration_items" USING btree ("workspace_id","environment","source","native_key") WHERE "configuration_items"."source" is not null;--> statement-breakpoint
CREATE INDEX "configuration_items_created_idx" ON "configuration_items" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "configuration_items_updated_idx" ON "configuration_items" USING btree ("workspace_id","environment","updated_at","id");--> statement-breakpoint
CREATE INDEX "configuration_items_name_idx" ON "configuration_items" USING btree ("workspace_id","environment","name","id");--> statement-breakpoint
CREATE INDEX "configuration_items_class_idx" ON "configuration_items" USING btree ("workspace_id","environment","class","created_at","id");--> statement-breakpoint
CREATE INDEX "configuration_items_status_idx" ON "configuration_items" USING btree ("workspace_id","environment","status","created_at","id");--> statement-breakpoint
CREATE INDEX "configuration_items_owner_idx" ON "configuration_items" USING btree ("workspace_id","environment","owner","created_at","id") WHERE "configuration_items"."owner" is not null;--> statement-breakpoint
CREATE INDEX "configuration_items_group_idx" ON "configuration_items" USING btree ("workspace_id","environment","support_group","created_at","id") WHERE "configuration_items"."support_group" is not null;--> statement-breakpoint
CREATE INDEX "configuration_items_name_text_idx" ON "configuration_items" USING gin ("workspace_id","environment","name" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "incidents_ci_idx" ON "incidents" USING btree ("workspace_id","environment",(state->>'ciId')) WHERE state->>'ciId' is not null and status in ('open', 'in_progress', 'on_hold');