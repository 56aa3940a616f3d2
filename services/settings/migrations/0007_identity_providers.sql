CREATE TABLE "break_glass_entries" (
	"session_id" text NOT NULL,
	"workspace_id" text NOT NULL,
	CONSTRAINT "break_glass_entries_session_id_workspace_id_pk" PRIMARY KEY("session_id","workspace_id")
);
--> statement-breakpoint
CREATE TABLE "identities" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"user_id" text GENERATED ALWAYS AS (state->>'userId') STORED,
	"provider_id" text GENERATED ALWAYS AS (state->>'providerId') STORED,
	"issuer" text GENERATED ALWAYS AS (state->>'issuer') STORED,
	"subject" text GENERATED ALWAYS AS (state->>'subject') STORED
);
--> statement-breakpoint
CREATE TABLE "identity_providers" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"enabled" text GENERATED ALWAYS AS (state->>'enabled') STORED,
	"required" text GENERATED ALWAYS AS (state->>'required') STORED
);
--> statement-breakpoint
CREATE TABLE "sso_sessions" (
	"session_id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"provider_id" text NOT NULL,
	"identity_id" text NOT NULL,
	"sid" text,
	"sealed_id_token" text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX "identities_subject_key" ON "identities" USING btree ("provider_id","issuer","subject");--> statement-breakpoint
CREATE INDEX "identities_user_idx" ON "identities" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "identity_providers_created_idx" ON "identity_providers" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "sso_sessions_provider_idx" ON "sso_sessions" USING btree ("provider_id","identity_id");--> statement-breakpoint
CREATE INDEX "sso_sessions_account_idx" ON "sso_sessions" USING btree ("account_id");