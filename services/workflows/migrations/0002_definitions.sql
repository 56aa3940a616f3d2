CREATE TABLE "workflow_drafts" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED
);
--> statement-breakpoint
CREATE TABLE "workflow_versions" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"workflow_id" text GENERATED ALWAYS AS (state->>'workflowId') STORED,
	"number" integer GENERATED ALWAYS AS ((state->>'number')::integer) STORED
);
--> statement-breakpoint
ALTER TABLE "workflows" ADD COLUMN "name" text GENERATED ALWAYS AS (state->>'name') STORED;--> statement-breakpoint
ALTER TABLE "workflows" ADD COLUMN "status" text GENERATED ALWAYS AS (state->>'status') STORED;--> statement-breakpoint
ALTER TABLE "workflows" ADD COLUMN "updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED;--> statement-breakpoint
ALTER TABLE "workflows" ADD COLUMN "trigger_type" text GENERATED ALWAYS AS (state->>'triggerType') STORED;--> statement-breakpoint
ALTER TABLE "workflows" ADD COLUMN "owner_id" text GENERATED ALWAYS AS (state->>'ownerId') STORED;--> statement-breakpoint
ALTER TABLE "workflows" ADD COLUMN "hook_id" text GENERATED ALWAYS AS (state->>'hookId') STORED;--> statement-breakpoint
CREATE INDEX "workflow_versions_workflow_idx" ON "workflow_versions" USING btree ("workspace_id","environment","workflow_id","number","id") WHERE number > 0;--> statement-breakpoint
CREATE INDEX "workflows_updated_idx" ON "workflows" USING btree ("workspace_id","environment","updated_at","id");--> statement-breakpoint
CREATE INDEX "workflows_name_idx" ON "workflows" USING btree ("workspace_id","environment","name","id");--> statement-breakpoint
CREATE INDEX "workflows_owner_idx" ON "workflows" USING btree ("workspace_id","owner_id") WHERE status = 'active';--> statement-breakpoint
CREATE UNIQUE INDEX "workflows_hook_key" ON "workflows" USING btree ("hook_id");--> statement-breakpoint
CREATE FUNCTION "refuse_version_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'version % of a workflow never changes', OLD.id;
END $$;--> statement-breakpoint
CREATE TRIGGER "workflow_versions_are_kept" BEFORE UPDATE ON "workflow_versions" FOR EACH ROW EXECUTE FUNCTION "refuse_version_change"();
