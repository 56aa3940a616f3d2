import {
  type Dependent,
  type DependentsQuestion,
  dependentKinds,
  environments,
  type FoundDependent,
  FoundDependents,
  type UserDependents,
} from '@opsplane/contracts'
import type { PlatformClients } from '@opsplane/http'
import type { Drizzle } from '@opsplane/postgres'
import type { Logger } from '@opsplane/runtime'
import { listMemberKeys } from '../token/queries.js'

/** A resource that depends on a person, with its service. */
export interface ServiceDependent extends FoundDependent {
  service: string
}

export interface DependentsResult {
  found: ServiceDependent[]
  /** Services that did not respond. */
  unanswered: string[]
}

export type FindDependents = (question: DependentsQuestion) => Promise<DependentsResult>

export interface DependentsOptions {
  db: Drizzle
  /** Clients of all other services. */
  neighbours: PlatformClients
  log: Pick<Logger, 'warn'>
}

/** Queries every service for resources that depend on a person. Their API keys are read from this service's database. */
export const createFindDependents =
  ({ db, neighbours, log }: DependentsOptions): FindDependents =>
  async (question) => {
    const answers = await Promise.all(
      [...neighbours].map(async ([service, client]) => {
        try {
          const { dependents } = await client.post('/internal/people/dependents', question, FoundDependents)
          return { service, dependents }
        } catch (error) {
          log.warn({ err: error, service }, 'a service did not list what depends on a person')
          return { service, dependents: null }
        }
      }),
    )
    const keys = await listMemberKeys(db, question)
    const found = answers.flatMap(({ service, dependents }) =>
      (dependents ?? []).map((each) => ({ ...each, service })),
    )
    return {
      found: [...found, ...keys.map(keyDependent)].sort((a, b) => findKindIndex(a) - findKindIndex(b)),
      unanswered: answers.flatMap(({ service, dependents }) => (dependents === null ? [service] : [])),
    }
  }

const findKindIndex = ({ kind }: FoundDependent) => dependentKinds.indexOf(kind)

/** A key of several environments is listed in the first of them; it ends with its owner. */
const keyDependent = ({
  id,
  name,
  environments: own,
}: Awaited<ReturnType<typeof listMemberKeys>>[number]): ServiceDependent => ({
  ...{ kind: 'api_key', id, name, service: 'settings', takeOver: null },
  environment: own?.[0] ?? environments[0],
})

export const toDependent = ({ kind, id, name, environment, takeOver }: FoundDependent): Dependent => ({
  ...{ kind, id, name, environment },
  takeOver: takeOver && `${takeOver.method} /api/v1${takeOver.path}`,
})

export const toDependents = ({ found, unanswered }: DependentsResult): UserDependents => ({
  items: found.map(toDependent),
  unanswered,
})
