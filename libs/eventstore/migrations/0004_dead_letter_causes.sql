-- What kind of failure the error is, without what it quotes; null of those from before.
ALTER TABLE dead_letters ADD COLUMN cause text;
