CREATE TABLE "version_grants" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"version_id" text GENERATED ALWAYS AS (state->>'versionId') STORED,
	"run_id" text GENERATED ALWAYS AS (state->>'runId') STORED,
	"place" bigint GENERATED ALWAYS AS IDENTITY (sequence name "version_grants_place_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1)
);
--> statement-breakpoint
CREATE INDEX "version_grants_version_idx" ON "version_grants" USING btree ("version_id","run_id","place");--> statement-breakpoint
-- 0.2.0 keeps the grant of a version in its row, and notes in revoked_versions that it is revoked. Until no replica of it is
-- left, the triggers below make both agree: its row of version_grants has the id of the version.
CREATE FUNCTION "add_first_grant"("version_id" text) RETURNS void LANGUAGE sql
SET search_path FROM CURRENT AS $$
	INSERT INTO version_grants (id, workspace_id, environment, version, state)
	SELECT v.id, v.workspace_id, v.environment, 1, json_build_object('versionId', v.id, 'runId', null,
		'grant', v.state->>'grant', 'userId', v.state->>'publishedBy', 'givenAt', v.state->>'publishedAt')
	FROM workflow_versions v
	WHERE v.id = "version_id" AND NOT EXISTS (SELECT FROM revoked_versions r WHERE r.version_id = v.id)
	ON CONFLICT DO NOTHING
$$;
--> statement-breakpoint
CREATE FUNCTION "follow_first_grant"() RETURNS trigger LANGUAGE plpgsql
SET search_path FROM CURRENT AS $$
BEGIN
	IF TG_TABLE_NAME = 'workflow_versions' THEN
		PERFORM add_first_grant(NEW.id);
	ELSIF TG_TABLE_NAME = 'version_grants' THEN
		INSERT INTO revoked_versions SELECT v.id FROM workflow_versions v WHERE v.id = OLD.id ON CONFLICT DO NOTHING;
	ELSIF TG_OP = 'INSERT' THEN
		DELETE FROM version_grants WHERE id = NEW.version_id;
	ELSE
		PERFORM add_first_grant(OLD.version_id);
	END IF;
	RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "version_has_its_grant" AFTER INSERT ON "workflow_versions" FOR EACH ROW EXECUTE FUNCTION "follow_first_grant"();
--> statement-breakpoint
CREATE TRIGGER "first_grant_is_revoked" AFTER DELETE ON "version_grants" FOR EACH ROW EXECUTE FUNCTION "follow_first_grant"();
--> statement-breakpoint
CREATE TRIGGER "revoked_version_has_no_grant" AFTER INSERT OR DELETE ON "revoked_versions" FOR EACH ROW EXECUTE FUNCTION "follow_first_grant"();
--> statement-breakpoint
SELECT add_first_grant(id) FROM workflow_versions ORDER BY number;
