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
      summary: 'Get the ITSM settings',
      description:
        'Returns the settings of the workspace and environment. Until they are first changed, returns the defaults ' +
        'with version 0; the same applies with `asOf`.',
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
      summary: 'Update the ITSM settings',
      description:
        'Changes the given fields; the priority matrix is replaced as a whole. Incidents keep their priority until ' +
        'their impact or urgency changes. Emits `itsm_settings.updated`; an update without changes emits no event.',
      tag,
      scope: 'itsm:manage',
      body: ItsmSettingsPatch,
      response: ItsmSettings,
      ifMatch: true,
      handler: ({ body, meta }) => settings.patch(body, meta),
    }),
  ]
}
