CREATE TABLE "audit_checkpoints" (
	"workspace_id" text NOT NULL,
	"seq" bigint NOT NULL,
	"hash" text NOT NULL,
	"at" text NOT NULL,
	"signature" text NOT NULL,
	"key_id" text NOT NULL,
	CONSTRAINT "audit_checkpoints_workspace_id_seq_pk" PRIMARY KEY("workspace_id","seq")
);
--> statement-breakpoint
CREATE TABLE "audit_exports" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED
);
--> statement-breakpoint
CREATE TABLE "audit_heads" (
	"workspace_id" text PRIMARY KEY NOT NULL,
	"seq" bigint NOT NULL,
	"hash" text NOT NULL,
	"at" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "audit_log" ADD COLUMN "request_id" text GENERATED ALWAYS AS (event#>>'{requestId}') STORED;--> statement-breakpoint
ALTER TABLE "audit_log" ADD COLUMN "address" text GENERATED ALWAYS AS (event#>>'{source,address}') STORED;--> statement-breakpoint
ALTER TABLE "audit_log" ADD COLUMN "seq" bigint;--> statement-breakpoint
ALTER TABLE "audit_log" ADD COLUMN "hash" text;--> statement-breakpoint
-- What canonicalJson() in @opsplane/contracts makes of a value that JSON.stringify has written.
CREATE FUNCTION pg_temp.canonical("value" json) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	CASE json_typeof("value")
	WHEN 'object' THEN
		RETURN '{' || coalesce((
			SELECT string_agg(to_json("key")::text || ':' || pg_temp.canonical("item"), ',' ORDER BY
				-- JavaScript puts the keys that are array indices first, in numeric order.
				CASE WHEN "key" ~ '^(0|[1-9][0-9]{0,9})$' THEN
					CASE WHEN "key"::bigint < 4294967295 THEN "key"::bigint END
				END NULLS LAST, "key" COLLATE "C")
			FROM json_each("value") AS entries("key", "item")), '') || '}';
	WHEN 'array' THEN
		RETURN '[' || coalesce((
			SELECT string_agg(pg_temp.canonical("item"), ',' ORDER BY "place")
			FROM json_array_elements("value") WITH ORDINALITY AS items("item", "place")), '') || ']';
	ELSE
		RETURN "value"::text;
	END CASE;
END $$;--> statement-breakpoint
-- Events from before the chain stand at its beginning, in the order of their times, with the source nobody recorded.
DO $$
DECLARE
	entry record;
	complete json;
	current_workspace text;
	place bigint;
	link text;
BEGIN
	FOR entry IN SELECT "id", "workspace_id", "event" FROM "audit_log"
		ORDER BY "workspace_id" COLLATE "C", "created_at" COLLATE "C", "id" COLLATE "C"
	LOOP
		IF current_workspace IS DISTINCT FROM entry."workspace_id" THEN
			current_workspace := entry."workspace_id";
			place := 0;
			link := repeat('0', 64);
		END IF;
		complete := entry."event";
		IF complete -> 'source' IS NULL THEN
			complete := (left(complete::text, -1) || ',"source":null}')::json;
		END IF;
		place := place + 1;
		link := encode(sha256(convert_to(
			'["' || link || '",' || place || ',' || pg_temp.canonical(complete) || ']', 'UTF8')), 'hex');
		UPDATE "audit_log" SET "event" = complete, "seq" = place, "hash" = link WHERE "id" = entry."id";
	END LOOP;
END $$;--> statement-breakpoint
INSERT INTO "audit_heads" ("workspace_id", "seq", "hash", "at")
SELECT DISTINCT ON ("workspace_id") "workspace_id", "seq", "hash",
	to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
FROM "audit_log" ORDER BY "workspace_id", "seq" DESC;--> statement-breakpoint
ALTER TABLE "audit_log" ALTER COLUMN "seq" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "audit_log" ALTER COLUMN "hash" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN "source" json;--> statement-breakpoint
CREATE INDEX "audit_log_request_idx" ON "audit_log" USING btree ("workspace_id","environment","request_id","created_at","id");--> statement-breakpoint
CREATE INDEX "audit_log_address_idx" ON "audit_log" USING btree ("workspace_id","environment","address","created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "audit_log_chain_key" ON "audit_log" USING btree ("workspace_id","seq");