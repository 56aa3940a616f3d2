import {
  type DependentKind,
  DependentsQuestion,
  Environment,
  type FoundDependent,
  FoundDependents,
  maxDependents,
  type TakeoverCall,
} from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import { z } from 'zod'

/** Resources of one kind that depend on a person. */
export interface DependentsOfKind {
  kind: DependentKind
  /**
   * SQL with the parameters $1 (workspace) and $2 (person). Returns `id`, `name`, `environment`, and as `more` the data
   * `takeOver` needs, with its own `order by`.
   */
  query: string
  /** The API call that takes the resource over; `null` if that is not possible. */
  takeOver(found: Found, question: DependentsQuestion): TakeoverCall | null
}

const Found = z.object({
  id: z.string(),
  name: z.string(),
  environment: Environment,
  more: z.unknown().optional(),
})
type Found = z.infer<typeof Found>

/** Lets settings query this service's resources that depend on a person, before it removes the person. */
export const dependentsRoute = ({ sql }: Pick<Database, 'sql'>, kinds: readonly DependentsOfKind[]): Route =>
  defineRoute({
    method: 'post',
    tag: 'Internal',
    scope: 'service',
    idempotency: 'none',
    operationId: 'findDependents',
    path: '/internal/people/dependents',
    callers: ['settings'],
    summary: 'Find the resources that depend on a person',
    body: DependentsQuestion,
    response: FoundDependents,
    handler: async ({ body }) => {
      const found = await Promise.all(kinds.map((each) => dependentsOf(sql, each, body)))
      return { dependents: found.flat() }
    },
  })

async function dependentsOf(
  sql: Database['sql'],
  { kind, query, takeOver }: DependentsOfKind,
  question: DependentsQuestion,
): Promise<FoundDependent[]> {
  const rows = await sql.unsafe(`${query} limit ${maxDependents}`, [question.workspaceId, question.userId], {
    prepare: true,
  })
  return rows.map((row) => {
    const found = Found.parse(row)
    const { id, name, environment } = found
    return { kind, id, name, environment, takeOver: takeOver(found, question) }
  })
}
