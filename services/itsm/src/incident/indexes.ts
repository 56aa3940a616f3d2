import { sql } from 'drizzle-orm'

// Conditions of partial indexes, spelled the same in table and query, as Postgres compares them.

/** Unique over the dedup keys of the incidents that take alerts. */
export const dedupKeyIndex = 'incidents_dedup_key'
export const takingAlerts = sql.raw(`dedup_key is not null and status in ('open', 'in_progress', 'on_hold')`)

export const isMajor = sql.raw(`major_state <> 'none'`)

type ListField = 'watcherIds' | 'tags'
/** A list of the state, as the index over its members has it. */
export const members = (field: ListField) => sql.raw(`((state->'${field}')::jsonb)`)
export const hasMembers = (field: ListField) => sql.raw(`state->>'${field}' <> '[]'`)
