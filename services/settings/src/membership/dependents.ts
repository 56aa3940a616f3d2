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

/** Something that hangs on a person, and the service that has it. */
export interface ServiceDependent extends FoundDependent {
  service: string
}

export interface DependentsResult {
  found: ServiceDependent[]
  /** Services that did not answer. */
  unanswered: string[]
}

export type FindDependents = (question: DependentsQuestion) => Promise<DependentsResult>

export interface DependentsOptions {
  db: Drizzle
  /** Of all other services. */
  neighbours: PlatformClients
  log: Pick<Logger, 'warn'>
}

/** Asks every service what depends on a person; their API keys are read here. */
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
      found: [...found, ...keys.map(keyDependent)].sort((a, b) => placeOf(a) - placeOf(b)),
      unanswered: answers.flatMap(({ service, dependents }) => (dependents === null ? [service] : [])),
    }
  }

const placeOf = ({ kind }: FoundDependent) => dependentKinds.indexOf(kind)

/** A key of several environments is listed in the first of them; it ends with its person. */
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
