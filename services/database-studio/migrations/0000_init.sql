CREATE TABLE "tables" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"slug" text GENERATED ALWAYS AS (state->>'slug') STORED,
	"name" text GENERATED ALWAYS AS (state->>'name') STORED,
	"purge_at" text GENERATED ALWAYS AS (state->>'purgeAt') STORED
);
--> statement-breakpoint
CREATE UNIQUE INDEX "tables_slug_key" ON "tables" USING btree ("workspace_id","environment","slug") WHERE purge_at is null;--> statement-breakpoint
CREATE INDEX "tables_created_idx" ON "tables" USING btree ("workspace_id","environment","created_at","id");