CREATE TABLE "fact_rebuilds" (
	"source" text PRIMARY KEY NOT NULL,
	"position" bigint NOT NULL,
	"due_at" timestamp with time zone NOT NULL,
	"held_until" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"lease_owner" text,
	"lease_fence" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE INDEX "fact_rebuilds_due_idx" ON "fact_rebuilds" USING btree (greatest(due_at, held_until)) WHERE due_at is not null;