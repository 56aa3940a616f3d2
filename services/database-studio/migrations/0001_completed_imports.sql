ALTER TABLE "record_imports" ADD COLUMN "delimiter" text DEFAULT ',' NOT NULL;--> statement-breakpoint
UPDATE "record_imports" SET "status" = 'completed' WHERE "status" = 'succeeded';
