import { fileURLToPath } from 'node:url'
import {
  createDelegations,
  createPermissionFinder,
  createSecretTargets,
  type Operations,
  type Route,
  type ServiceClient,
} from '@opsplane/http'
import type { CodeRunner } from '@opsplane/sandbox'
import type { ServiceContext, SubscriptionRules } from '@opsplane/service'
import { type Artifacts, createArtifacts } from '../artifact/artifacts.js'
import { artifact } from '../artifact/domain.js'
import { artifactRoutes } from '../artifact/routes.js'
import type { AnnounceValidations } from '../rule/announce.js'
import { availablePacks } from './available.js'
import { pack } from './domain.js'
import { createExaminer } from './examine.js'
import { createPacks, type Packs } from './packs.js'
import { packRoutes } from './routes.js'
import { allUses, type FindUses } from './uses.js'

export interface PackParts {
  settings: Pick<ServiceClient, 'post'>
  runner: Pick<CodeRunner, 'compile'>
  operations: Operations
  /** Finders for uses of artifacts. */
  uses: readonly FindUses[]
  announceValidations: AnnounceValidations
  rules: SubscriptionRules
  /** The operator's folders with packs, in addition to the built-in ones. */
  folders: readonly string[]
}

export interface OpenPacks {
  artifacts: Artifacts
  packs: Packs
  routes: Route[]
}

const shipped = fileURLToPath(new URL('../../packs', import.meta.url))

/** Assembles artifacts and packs. */
export function openPacks(
  ctx: ServiceContext,
  { settings, runner, operations, uses, folders, announceValidations, rules }: PackParts,
): OpenPacks {
  const { store, database, cursors } = ctx
  const artifacts = createArtifacts(store.aggregate(artifact), database, cursors)
  const available = availablePacks([shipped, ...folders])
  const findUses = allUses(uses)
  const secretTargets = createSecretTargets(settings)
  const packs = createPacks({
    ...{ store, database, findUses, announceValidations, rules, secretTargets },
    aggregate: store.aggregate(pack),
    artifacts: artifacts.aggregate,
    delegations: createDelegations(settings),
    examiner: createExaminer({
      database,
      runner,
      available,
      ...{ findUses, secretTargets },
      permissionOf: createPermissionFinder(operations),
    }),
  })
  return {
    artifacts,
    packs,
    routes: [...artifactRoutes(ctx, artifacts), ...packRoutes(ctx, packs, available)],
  }
}
