import { readModelTable } from '@opsplane/postgres'

/** One row per workspace and environment with changed settings, found by its id. */
export const itsmSettingsRows = readModelTable('itsm_settings', {})
