-- The `traceparent` of the append where its request is followed: beside the event, no part of what is published. See ADR 094.
ALTER TABLE events ADD COLUMN trace text;
