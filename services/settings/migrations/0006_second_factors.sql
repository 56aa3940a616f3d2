CREATE TABLE "account_factors" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"kind" text NOT NULL,
	"name" text NOT NULL,
	"created_at" text NOT NULL,
	"confirmed_at" text,
	"last_used_at" text,
	"sealed_secret" text,
	"last_step" bigint,
	"credential_id" text,
	"public_key" text,
	"sign_counter" bigint,
	"transports" text[]
);
--> statement-breakpoint
CREATE TABLE "recovery_codes" (
	"account_id" text NOT NULL,
	"code_hash" text NOT NULL,
	"used_at" text,
	CONSTRAINT "recovery_codes_account_id_code_hash_pk" PRIMARY KEY("account_id","code_hash")
);
--> statement-breakpoint
CREATE TABLE "sign_in_challenges" (
	"id" text PRIMARY KEY NOT NULL,
	"secret_hash" text NOT NULL,
	"purpose" text NOT NULL,
	"account_id" text NOT NULL,
	"session_id" text,
	"methods" text[] DEFAULT '{}' NOT NULL,
	"provider_id" text,
	"workspace_id" text,
	"password_hash" text,
	"attempts" integer DEFAULT 0 NOT NULL,
	"expires_at" text NOT NULL
);
--> statement-breakpoint
CREATE INDEX "account_factors_account_idx" ON "account_factors" USING btree ("account_id");--> statement-breakpoint
CREATE UNIQUE INDEX "account_factors_credential_key" ON "account_factors" USING btree ("credential_id");--> statement-breakpoint
CREATE INDEX "sign_in_challenges_expires_idx" ON "sign_in_challenges" USING btree ("expires_at");