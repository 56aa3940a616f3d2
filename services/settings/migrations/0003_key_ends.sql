ALTER TABLE "standing_grants" ADD COLUMN "key_id" text;--> statement-breakpoint
ALTER TABLE "standing_grants" ADD COLUMN "key_ends_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "standing_grants" ADD COLUMN "held_until" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "standing_grants" ADD COLUMN "failures" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "standing_grants" ADD COLUMN "last_error" text;--> statement-breakpoint
-- brief: few rows, and none has the column yet
CREATE INDEX "standing_grants_due_idx" ON "standing_grants" USING btree (greatest(key_ends_at, held_until)) WHERE key_ends_at is not null and revoked_at is null;
