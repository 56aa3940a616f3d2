CREATE TABLE "secret_usage" (
	"secret_id" text PRIMARY KEY NOT NULL,
	"use_count" bigint NOT NULL,
	"last_used_at" text NOT NULL,
	"last_used_by" text NOT NULL
);
