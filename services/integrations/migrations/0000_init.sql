CREATE TABLE "connectors" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"name" text GENERATED ALWAYS AS (state->>'name') STORED,
	"kind" text GENERATED ALWAYS AS (state->>'kind') STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED
);
--> statement-breakpoint
CREATE UNIQUE INDEX "connectors_name_key" ON "connectors" USING btree ("workspace_id","environment","name");--> statement-breakpoint
CREATE INDEX "connectors_created_idx" ON "connectors" USING btree ("workspace_id","environment","created_at","id");