import { fileURLToPath } from 'node:url'
import { defineService, type ServiceOverrides } from '@opsplane/service'
import { catalogDeciders, catalogProjectedTables, catalogRoutes } from './catalog/catalog.js'
import { changeConsumers, changeDeciders, changeManagementRoutes } from './change/changes.js'
import {
  changeWindowConsumers,
  changeWindowDeciders,
  changeWindowRoutes,
} from './change-window/change-window.js'
import { cmdbDeciders } from './cmdb/deciders.js'
import { cmdbRoutes } from './cmdb/routes.js'
import { type ItsmConfig, loadConfig } from './config.js'
import { incidentActionRoutes } from './incident/action-routes.js'
import { incidentCommentRoutes } from './incident/comment-routes.js'
import { incident } from './incident/domain.js'
import { incidentStore } from './incident/incident-store.js'
import { majorIncidentRoutes } from './incident/major-routes.js'
import { incidentConsumers } from './incident/reactions.js'
import { incidentRoutes } from './incident/routes.js'
import { incidentWatchRoutes } from './incident/watch-routes.js'
import { article } from './knowledge/domain.js'
import { createKnowledge } from './knowledge/knowledge.js'
import type { SearchPatience } from './knowledge/search/patience.js'
import { articleVote } from './knowledge/vote.js'
import { problem } from './problem/domain.js'
import { allProblemRoutes, problemConsumers } from './problem/problems.js'
import { itsmSettings } from './settings/domain.js'
import { settingsRoutes } from './settings/routes.js'
import { slaConsumers, slaDeciders, slaProjectedTables, slaRoutes } from './sla/sla.js'
import { stateMachineRoutes } from './state-machines/routes.js'

/** What tests and the one-process run replace. */
export interface ItsmOverrides extends ServiceOverrides {
  searchPatience?: SearchPatience
  /** How often scheduled articles are looked for. */
  publishEveryMs?: number
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
  async setup(ctx, { searchPatience, publishEveryMs }) {
    const incidents = incidentStore(ctx)
    const knowledge = createKnowledge(ctx, searchPatience, publishEveryMs)
    return {
      routes: [
        ...incidentRoutes(ctx, incidents),
        ...incidentActionRoutes(incidents),
        ...incidentCommentRoutes(ctx, incidents),
        ...majorIncidentRoutes(incidents),
        ...incidentWatchRoutes(incidents),
        ...changeManagementRoutes(ctx),
        ...cmdbRoutes(ctx),
        ...slaRoutes(ctx, incidents),
        ...changeWindowRoutes(ctx),
        ...knowledge.routes,
        ...stateMachineRoutes(),
        ...allProblemRoutes(ctx),
        ...settingsRoutes(ctx),
        ...catalogRoutes(ctx),
      ],
      background: [
        ...(await slaConsumers(ctx)),
        ...problemConsumers(ctx),
        ...changeConsumers(ctx),
        ...incidentConsumers(ctx),
        ...changeWindowConsumers(ctx),
        ...knowledge.background(),
      ],
    }
  },
})
