CREATE EXTENSION IF NOT EXISTS pg_trgm;--> statement-breakpoint
CREATE EXTENSION IF NOT EXISTS unaccent;--> statement-breakpoint
-- Generated columns take immutable functions only; these are, as long as dictionaries stay as they are. The
-- search path is kept, so that a restored dump, which sets none, computes the columns all the same.
CREATE FUNCTION "knowledge_plain"("value" text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  SET search_path FROM CURRENT AS $$ SELECT lower(unaccent('unaccent'::regdictionary, value)) $$;--> statement-breakpoint
CREATE FUNCTION "knowledge_config"("language" text) RETURNS regconfig LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE language
    WHEN 'da' THEN 'danish'::regconfig WHEN 'de' THEN 'german'::regconfig WHEN 'en' THEN 'english'::regconfig
    WHEN 'es' THEN 'spanish'::regconfig WHEN 'fi' THEN 'finnish'::regconfig WHEN 'fr' THEN 'french'::regconfig
    WHEN 'it' THEN 'italian'::regconfig WHEN 'nl' THEN 'dutch'::regconfig WHEN 'no' THEN 'norwegian'::regconfig
    WHEN 'pt' THEN 'portuguese'::regconfig WHEN 'ru' THEN 'russian'::regconfig WHEN 'sv' THEN 'swedish'::regconfig
    ELSE 'simple'::regconfig END $$;--> statement-breakpoint
CREATE FUNCTION "knowledge_tsvector"("language" text, "title" text, "about" text, "body" text) RETURNS tsvector
  LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path FROM CURRENT AS $$
  SELECT setweight(to_tsvector(knowledge_config(language), knowledge_plain(title)), 'A')
    || setweight(to_tsvector(knowledge_config(language), knowledge_plain(about)), 'B')
    || setweight(to_tsvector(knowledge_config(language), knowledge_plain(body)), 'C') $$;--> statement-breakpoint
CREATE TABLE "knowledge_articles" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"number_value" integer GENERATED ALWAYS AS (substring(state->>'number' from 4)::integer) STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED,
	"category" text GENERATED ALWAYS AS (state->>'category') STORED,
	"language" text GENERATED ALWAYS AS (state->>'language') STORED,
	"updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED,
	"tags" jsonb GENERATED ALWAYS AS ((state->'tags')::jsonb) STORED
);
--> statement-breakpoint
CREATE TABLE "knowledge_chunks" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"article_id" text NOT NULL,
	"source_version" integer NOT NULL,
	"model" text NOT NULL,
	"content" text NOT NULL,
	"content_hash" text NOT NULL,
	"vector" "bytea",
	"attempts" integer DEFAULT 0 NOT NULL,
	"due_at" bigint NOT NULL,
	"last_error" text
);
--> statement-breakpoint
CREATE TABLE "knowledge_published" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"number" text GENERATED ALWAYS AS (state->>'number') STORED,
	"category" text GENERATED ALWAYS AS (state->>'category') STORED,
	"language" text GENERATED ALWAYS AS (state->>'language') STORED,
	"visibility" text GENERATED ALWAYS AS (state->>'visibility') STORED,
	"valid_until" text GENERATED ALWAYS AS (state->>'validUntil') STORED,
	"published_at" text GENERATED ALWAYS AS (state->>'publishedAt') STORED,
	"tags" jsonb GENERATED ALWAYS AS ((state->'tags')::jsonb) STORED,
	"codes" jsonb GENERATED ALWAYS AS ((state->'codes')::jsonb) STORED,
	"search" "tsvector" GENERATED ALWAYS AS (knowledge_tsvector(state->>'language', state->>'title', coalesce(state->>'summary', '') || ' ' || (state->>'tags'), state->>'body')) STORED,
	"fuzzy" text GENERATED ALWAYS AS (knowledge_plain((state->>'title') || ' ' || coalesce(state->>'summary', '') || ' ' || (state->>'tags') || ' ' || (state->>'codes'))) STORED
);
--> statement-breakpoint
CREATE TABLE "knowledge_versions" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"article_id" text GENERATED ALWAYS AS (state->>'articleId') STORED,
	"article_version" integer GENERATED ALWAYS AS ((state->>'articleVersion')::integer) STORED
);
--> statement-breakpoint
CREATE TABLE "knowledge_votes" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"article_id" text GENERATED ALWAYS AS (state->>'articleId') STORED,
	"helpful" text GENERATED ALWAYS AS (state->>'helpful') STORED
);
--> statement-breakpoint
CREATE UNIQUE INDEX "knowledge_articles_number_key" ON "knowledge_articles" USING btree ("workspace_id","number_value");--> statement-breakpoint
CREATE INDEX "knowledge_articles_created_idx" ON "knowledge_articles" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "knowledge_articles_updated_idx" ON "knowledge_articles" USING btree ("workspace_id","environment","updated_at","id");--> statement-breakpoint
CREATE INDEX "knowledge_articles_status_idx" ON "knowledge_articles" USING btree ("workspace_id","environment","status","created_at","id");--> statement-breakpoint
CREATE INDEX "knowledge_chunks_due_idx" ON "knowledge_chunks" USING btree ("model","due_at") WHERE vector is null;--> statement-breakpoint
CREATE INDEX "knowledge_chunks_article_idx" ON "knowledge_chunks" USING btree ("article_id","model");--> statement-breakpoint
CREATE INDEX "knowledge_chunks_tenant_idx" ON "knowledge_chunks" USING btree ("workspace_id","environment","model");--> statement-breakpoint
CREATE INDEX "knowledge_published_created_idx" ON "knowledge_published" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "knowledge_published_language_idx" ON "knowledge_published" USING btree ("workspace_id","environment","language");--> statement-breakpoint
CREATE INDEX "knowledge_published_search_idx" ON "knowledge_published" USING gin ("search") WITH (fastupdate=false);--> statement-breakpoint
CREATE INDEX "knowledge_published_codes_idx" ON "knowledge_published" USING gin ("codes") WITH (fastupdate=false);--> statement-breakpoint
CREATE INDEX "knowledge_published_fuzzy_idx" ON "knowledge_published" USING gin ("fuzzy" gin_trgm_ops) WITH (fastupdate=false);--> statement-breakpoint
CREATE INDEX "knowledge_versions_article_idx" ON "knowledge_versions" USING btree ("workspace_id","environment","article_id","article_version","id");--> statement-breakpoint
CREATE INDEX "knowledge_votes_article_idx" ON "knowledge_votes" USING btree ("workspace_id","environment","article_id");