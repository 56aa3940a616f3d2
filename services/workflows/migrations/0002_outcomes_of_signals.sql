ALTER TABLE "run_signals" ADD COLUMN "attempt" integer;--> statement-breakpoint
ALTER TABLE "run_signals" ADD COLUMN "awaited" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "run_signals" ADD COLUMN "outcome" text;