CREATE TABLE "migration_runs" (
	"space_id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"migration_id" text NOT NULL,
	"direction" text NOT NULL,
	"token_hash" text NOT NULL,
	"acting" json NOT NULL,
	"done_at" timestamp with time zone,
	"due_at" timestamp with time zone NOT NULL,
	"held_until" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_error" text
);
--> statement-breakpoint
CREATE TABLE "migrations" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"number" integer GENERATED ALWAYS AS ((state->>'number')::integer) STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED
);
--> statement-breakpoint
CREATE TABLE "saved_queries" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"name" text GENERATED ALWAYS AS (state->>'name') STORED
);
--> statement-breakpoint
CREATE INDEX "migration_runs_due_idx" ON "migration_runs" USING btree (greatest(due_at, held_until)) WHERE true;--> statement-breakpoint
CREATE UNIQUE INDEX "migrations_number_key" ON "migrations" USING btree ("workspace_id","environment","number");--> statement-breakpoint
CREATE INDEX "migrations_created_idx" ON "migrations" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "saved_queries_created_idx" ON "saved_queries" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "saved_queries_name_idx" ON "saved_queries" USING btree ("workspace_id","environment","name","id");