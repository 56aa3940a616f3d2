CREATE TABLE "apps" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED
);
--> statement-breakpoint
CREATE INDEX "apps_created_idx" ON "apps" USING btree ("workspace_id","environment","created_at","id");
--> statement-breakpoint
CREATE TABLE "app_pages" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"app_id" text GENERATED ALWAYS AS (state->>'appId') STORED,
	"slug" text GENERATED ALWAYS AS (state->>'slug') STORED,
	"position" integer GENERATED ALWAYS AS ((state->>'position')::integer) STORED
);
--> statement-breakpoint
CREATE TABLE "data_sources" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"app_id" text GENERATED ALWAYS AS (state->>'appId') STORED,
	"name" text GENERATED ALWAYS AS (state->>'name') STORED
);
--> statement-breakpoint
CREATE TABLE "deployment_contents" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED
);
--> statement-breakpoint
CREATE TABLE "deployments" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"app_id" text GENERATED ALWAYS AS (state->>'appId') STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED,
	"number" integer GENERATED ALWAYS AS ((state->>'number')::integer) STORED
);
--> statement-breakpoint
CREATE TABLE "embed_tokens" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"app_id" text GENERATED ALWAYS AS (state->>'appId') STORED,
	"expires_at" text GENERATED ALWAYS AS (state->>'expiresAt') STORED
);
--> statement-breakpoint
ALTER TABLE "apps" ADD COLUMN "slug" text GENERATED ALWAYS AS (state->>'slug') STORED;--> statement-breakpoint
ALTER TABLE "apps" ADD COLUMN "name" text GENERATED ALWAYS AS (state->>'name') STORED;--> statement-breakpoint
ALTER TABLE "apps" ADD COLUMN "status" text GENERATED ALWAYS AS (state->>'status') STORED;--> statement-breakpoint
CREATE INDEX "app_pages_position_idx" ON "app_pages" USING btree ("workspace_id","environment","app_id","position","id");--> statement-breakpoint
CREATE UNIQUE INDEX "app_pages_slug_key" ON "app_pages" USING btree ("workspace_id","environment","app_id","slug");--> statement-breakpoint
CREATE UNIQUE INDEX "data_sources_name_key" ON "data_sources" USING btree ("workspace_id","environment","app_id","name");--> statement-breakpoint
CREATE INDEX "deployments_created_idx" ON "deployments" USING btree ("workspace_id","environment","app_id","created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "deployments_number_key" ON "deployments" USING btree ("workspace_id","environment","app_id","number");--> statement-breakpoint
CREATE INDEX "embed_tokens_created_idx" ON "embed_tokens" USING btree ("workspace_id","environment","app_id","created_at","id");--> statement-breakpoint
CREATE INDEX "apps_name_idx" ON "apps" USING btree ("workspace_id","environment","name","id");--> statement-breakpoint
CREATE UNIQUE INDEX "apps_slug_key" ON "apps" USING btree ("workspace_id","environment","slug") WHERE status = 'active';--> statement-breakpoint
CREATE FUNCTION "refuse_deployment_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'deployment % never changes', OLD.id;
END $$;--> statement-breakpoint
CREATE TRIGGER "deployment_contents_are_kept" BEFORE UPDATE ON "deployment_contents" FOR EACH ROW EXECUTE FUNCTION "refuse_deployment_change"();
