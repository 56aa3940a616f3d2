DROP TABLE "secret_usage";--> statement-breakpoint
CREATE TABLE "secret_usage" (
	"secret_id" text NOT NULL,
	"consumer" text NOT NULL,
	"user_id" text NOT NULL,
	"host" text NOT NULL,
	"use_count" bigint NOT NULL,
	"last_used_at" text NOT NULL,
	"last_used_by" text NOT NULL,
	CONSTRAINT "secret_usage_secret_id_consumer_user_id_host_last_used_by_pk" PRIMARY KEY("secret_id","consumer","user_id","host","last_used_by")
);
