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
CREATE INDEX "table_purges_due_idx" ON "table_purges" USING btree (greatest(due_at, held_until)) WHERE true;