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