import { readModelTable } from '@opsplane/postgres'

/** One row for each workspace and environment that has changed anything, found by its id. */
export const itsmSettingsRows = readModelTable('itsm_settings', {})
