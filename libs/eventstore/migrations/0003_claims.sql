-- Names the request in flight that has the key: what another has meanwhile is not settled by it.
ALTER TABLE idempotency_keys ADD COLUMN claim text;
