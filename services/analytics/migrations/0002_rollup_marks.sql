ALTER TABLE "rollup_definitions" DISABLE ROW LEVEL SECURITY;--> statement-breakpoint
DROP TABLE "rollup_definitions" CASCADE;--> statement-breakpoint
DROP INDEX "rollup_marks_due_idx";--> statement-breakpoint
ALTER TABLE "rollup_marks" DROP CONSTRAINT "rollup_marks_pkey";--> statement-breakpoint
ALTER TABLE "rollup_marks" ADD COLUMN "id" text PRIMARY KEY NOT NULL;--> statement-breakpoint
ALTER TABLE "rollup_marks" ADD COLUMN "held_until" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "rollup_marks" ADD COLUMN "failures" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "rollup_marks" ADD COLUMN "last_error" text;--> statement-breakpoint
CREATE INDEX "rollup_marks_dataset_idx" ON "rollup_marks" USING btree ("workspace_id","environment","dataset");--> statement-breakpoint
CREATE INDEX "rollup_marks_turn_idx" ON "rollup_marks" USING btree (workspace_id,coalesce(greatest(due_at, held_until), 'infinity'::timestamptz)) WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX "rollup_marks_due_idx" ON "rollup_marks" USING btree (greatest(due_at, held_until)) WHERE due_at is not null;