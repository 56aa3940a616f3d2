-- Months of the log that were moved to files: see ADR 098.
CREATE TABLE detached_months (
	-- The first day.
	month date CONSTRAINT detached_months_pkey PRIMARY KEY,
	events bigint NOT NULL,
	first_position bigint NOT NULL,
	last_position bigint NOT NULL,
	-- Of the file, in hex.
	sha256 text NOT NULL,
	-- Whether it has events that read models are folded from, and not only those of journals.
	folded boolean NOT NULL,
	detached_at timestamp(3) with time zone NOT NULL DEFAULT now()
);
