import { AsOfQuery, ItsmSettings, ItsmSettingsPatch } from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import type { SettingsStore } from './settings-store.js'

const tag = 'ITSM settings'
const path = '/itsm/settings'

/** Routes of the ITSM settings of a workspace and environment. */
export function settingsRoutes(settings: SettingsStore): Route[] {
  return [
    defineRoute({
      operationId: 'getItsmSettings',
      method: 'get',
      path,
      summary: 'Get the settings of the ITSM desk',
      description:
        'Of the workspace and environment; the defaults, with version 0, until they are changed, also with `asOf`.',
      tag,
      scope: 'itsm:read',
      query: AsOfQuery,
      response: ItsmSettings,
      handler: ({ query, meta }) => settings.get(meta.tenant, query.asOf),
    }),

    defineRoute({
      operationId: 'updateItsmSettings',
      method: 'patch',
      path,
      summary: 'Update the settings of the ITSM desk',
      description:
        'Changes the given fields; the priority matrix as a whole. Incidents keep the priority they have until ' +
        'their impact or urgency changes. Emits `itsm_settings.updated`; what changes nothing emits nothing.',
      tag,
      scope: 'itsm:manage',
      body: ItsmSettingsPatch,
      response: ItsmSettings,
      ifMatch: true,
      handler: ({ body, meta }) => settings.patch(body, meta),
    }),
  ]
}
