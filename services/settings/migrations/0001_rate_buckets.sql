-- Lost in a crash, like the use that was made of them.
CREATE UNLOGGED TABLE "rate_buckets" (
	"key" text PRIMARY KEY NOT NULL,
	"tokens" double precision NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	"full_at" timestamp with time zone NOT NULL
);
