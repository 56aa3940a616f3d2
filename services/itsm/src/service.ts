import { fileURLToPath } from 'node:url'
import { defineService, dependentsRoute, type ServiceOverrides, type ServiceParts } from '@opsplane/service'
import { catalogDeciders, catalogProjectedTables, catalogRoutes } from './catalog/catalog.js'
import { changeStore } from './change/change-store.js'
import { changeDeciders, createChanges } from './change/changes.js'
import { changeWindowDeciders, createChangeWindows } from './change-window/change-window.js'
import { classStore } from './cmdb/class/class-store.js'
import { cmdbDeciders } from './cmdb/deciders.js'
import { itemStore } from './cmdb/item/item-store.js'
import { cmdbRoutes } from './cmdb/routes.js'
import { type ItsmConfig, loadConfig } from './config.js'
import { dependents } from './dependents.js'
import { graphRoutes } from './impact/graph-routes.js'
import { incident } from './incident/domain.js'
import { incidentStore } from './incident/incident-store.js'
import { createIncidents } from './incident/incidents.js'
import { article } from './knowledge/domain.js'
import { createKnowledge } from './knowledge/knowledge.js'
import type { SearchTimeouts } from './knowledge/search/timeouts.js'
import { articleVote } from './knowledge/vote.js'
import { openPeople } from './people.js'
import { problem } from './problem/domain.js'
import { createProblems } from './problem/problems.js'
import { itsmSettings } from './settings/domain.js'
import { settingsRoutes } from './settings/routes.js'
import { settingsStore } from './settings/settings-store.js'
import { createSla, slaDeciders, slaProjectedTables } from './sla/sla.js'
import { stateMachineRoutes } from './state-machines/routes.js'

/** Overrides used by tests and when all services run in one process. */
export interface ItsmOverrides extends ServiceOverrides {
  searchTimeouts?: SearchTimeouts
}

export const itsm = defineService<ItsmConfig, ItsmOverrides>({
  name: 'itsm',
  loadConfig,
  migrationsDir: fileURLToPath(new URL('../migrations', import.meta.url)),
  deciders: [
    incident,
    problem,
    ...changeDeciders,
    ...cmdbDeciders,
    ...slaDeciders,
    ...changeWindowDeciders,
    article,
    articleVote,
    itsmSettings,
    ...catalogDeciders,
  ],
  projectedTables: [
    'incident_comments',
    ...slaProjectedTables,
    'knowledge_versions',
    'knowledge_published',
    ...catalogProjectedTables,
  ],
  searchesTexts: true,
  setup(ctx, { searchTimeouts }) {
    const settings = settingsStore(ctx)
    const { people, background } = openPeople(ctx)
    const incidents = incidentStore(ctx, { settings, people })
    const changes = changeStore(ctx, { settings, people })
    const classes = classStore(ctx)
    const items = itemStore(ctx, classes)
    const areas: ServiceParts[] = [
      createIncidents(ctx, incidents, settings),
      createChanges(ctx, changes),
      { routes: cmdbRoutes(ctx, items, classes) },
      { routes: graphRoutes(ctx, items) },
      createSla(ctx, incidents),
      createChangeWindows(ctx),
      createKnowledge(ctx, settings, searchTimeouts),
      { routes: stateMachineRoutes() },
      createProblems(ctx, incidents, settings),
      { routes: settingsRoutes(settings) },
      { routes: catalogRoutes(ctx, people) },
    ]
    return {
      routes: [...areas.flatMap(({ routes }) => routes), dependentsRoute(ctx.database, dependents)],
      background: [...background, ...areas.flatMap((area) => area.background ?? [])],
    }
  },
})
