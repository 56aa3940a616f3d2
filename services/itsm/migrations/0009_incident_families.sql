CREATE INDEX "incidents_auto_close_idx" ON "incidents" USING btree ("workspace_id","environment",(state->>'resolvedAt'),"id") WHERE status = 'resolved' and major_state is distinct from 'accepted';
--> statement-breakpoint
-- By hand:
-- Incidents from before these fields get their defaults, which is what reading and rebuilding make of them too.
UPDATE "incidents" SET "state" = ('{"followsParent":false,"majorProposal":null,"postIncidentReview":null}'::jsonb || "state"::jsonb)::json WHERE "state"->>'followsParent' IS NULL;
