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
CREATE TABLE "record_import_parts" (
	"import_id" text NOT NULL,
	"part" integer NOT NULL,
	"content" "bytea" NOT NULL,
	CONSTRAINT "record_import_parts_import_id_part_pk" PRIMARY KEY("import_id","part")
);
--> statement-breakpoint
CREATE TABLE "record_imports" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"table_slug" text NOT NULL,
	"format" text NOT NULL,
	"conflict_columns" jsonb,
	"principal" jsonb NOT NULL,
	"request_id" text,
	"status" text NOT NULL,
	"bytes" bigint DEFAULT 0 NOT NULL,
	"batches" integer DEFAULT 0 NOT NULL,
	"bytes_done" bigint DEFAULT 0 NOT NULL,
	"written" bigint DEFAULT 0 NOT NULL,
	"refused" bigint DEFAULT 0 NOT NULL,
	"refused_rows" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"error" text,
	"due_at" timestamp(3) with time zone NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"finished_at" timestamp(3) with time zone,
	"held_until" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"lease_owner" text,
	"lease_fence" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
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
CREATE TABLE "table_purges" (
	"table_id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"due_at" timestamp with time zone NOT NULL,
	"held_until" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_error" text
);
--> statement-breakpoint
CREATE UNIQUE INDEX "tables_slug_key" ON "tables" USING btree ("workspace_id","environment","slug") WHERE purge_at is null;--> statement-breakpoint
CREATE INDEX "tables_created_idx" ON "tables" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "record_imports_due_idx" ON "record_imports" USING btree (greatest(due_at, held_until)) WHERE status in ('uploading', 'pending');--> statement-breakpoint
CREATE INDEX "record_imports_turn_idx" ON "record_imports" USING btree (workspace_id,coalesce(greatest(due_at, held_until), 'infinity'::timestamptz)) WHERE status in ('uploading', 'pending');--> statement-breakpoint
CREATE INDEX "record_imports_created_idx" ON "record_imports" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "migration_runs_due_idx" ON "migration_runs" USING btree (greatest(due_at, held_until)) WHERE true;--> statement-breakpoint
CREATE UNIQUE INDEX "migrations_number_key" ON "migrations" USING btree ("workspace_id","environment","number");--> statement-breakpoint
CREATE INDEX "migrations_created_idx" ON "migrations" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "saved_queries_created_idx" ON "saved_queries" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "saved_queries_name_idx" ON "saved_queries" USING btree ("workspace_id","environment","name","id");--> statement-breakpoint
CREATE INDEX "table_purges_due_idx" ON "table_purges" USING btree (greatest(due_at, held_until)) WHERE true;
--> statement-breakpoint
CREATE TABLE "record_validations" (
	"artifact_id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"tables" text[] NOT NULL,
	"operations" text[] NOT NULL,
	"when_unavailable" text NOT NULL
);
--> statement-breakpoint
CREATE INDEX "record_validations_tenant_idx" ON "record_validations" USING btree ("workspace_id","environment");