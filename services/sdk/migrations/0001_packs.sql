CREATE TABLE "artifact_versions" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"artifact_id" text GENERATED ALWAYS AS (state->>'artifactId') STORED,
	"number" integer GENERATED ALWAYS AS ((state->>'number')::integer) STORED,
	"digest" text GENERATED ALWAYS AS (state->>'digest') STORED
);
--> statement-breakpoint
CREATE TABLE "artifacts" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"slug" text GENERATED ALWAYS AS (state->>'slug') STORED,
	"name" text GENERATED ALWAYS AS (state->>'name') STORED,
	"kind" text GENERATED ALWAYS AS (state->>'kind') STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED,
	"pack_id" text GENERATED ALWAYS AS (state->>'packId') STORED,
	"owner_id" text GENERATED ALWAYS AS (state->>'ownerId') STORED,
	"updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED
);
--> statement-breakpoint
CREATE TABLE "pack_installations" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"pack_id" text GENERATED ALWAYS AS (state->>'packId') STORED,
	"pack_version" text GENERATED ALWAYS AS (state->>'packVersion') STORED
);
--> statement-breakpoint
ALTER TABLE "packs" ADD COLUMN "name" text GENERATED ALWAYS AS (state->>'name') STORED;--> statement-breakpoint
ALTER TABLE "packs" ADD COLUMN "status" text GENERATED ALWAYS AS (state->>'status') STORED;--> statement-breakpoint
ALTER TABLE "packs" ADD COLUMN "owner_id" text GENERATED ALWAYS AS (state->>'ownerId') STORED;--> statement-breakpoint
ALTER TABLE "packs" ADD COLUMN "updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED;--> statement-breakpoint
CREATE INDEX "artifact_versions_artifact_idx" ON "artifact_versions" USING btree ("workspace_id","environment","artifact_id","number","id");--> statement-breakpoint
CREATE INDEX "artifacts_created_idx" ON "artifacts" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "artifacts_pack_idx" ON "artifacts" USING btree ("pack_id");--> statement-breakpoint
CREATE UNIQUE INDEX "artifacts_slug_key" ON "artifacts" USING btree ("workspace_id","environment","slug");--> statement-breakpoint
CREATE INDEX "artifacts_rules_idx" ON "artifacts" USING btree ("workspace_id","environment") WHERE kind = 'business_rule' and status = 'active';--> statement-breakpoint
CREATE INDEX "pack_installations_pack_idx" ON "pack_installations" USING btree ("pack_id","pack_version");--> statement-breakpoint
CREATE UNIQUE INDEX "packs_name_key" ON "packs" USING btree ("workspace_id","environment","name");--> statement-breakpoint
CREATE INDEX "packs_owner_idx" ON "packs" USING btree ("workspace_id","owner_id") WHERE status = 'active';