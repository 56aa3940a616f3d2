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
CREATE INDEX "record_imports_due_idx" ON "record_imports" USING btree (greatest(due_at, held_until)) WHERE status in ('uploading', 'pending');--> statement-breakpoint
CREATE INDEX "record_imports_turn_idx" ON "record_imports" USING btree (workspace_id,coalesce(greatest(due_at, held_until), 'infinity'::timestamptz)) WHERE status in ('uploading', 'pending');--> statement-breakpoint
CREATE INDEX "record_imports_created_idx" ON "record_imports" USING btree ("workspace_id","environment","created_at","id");