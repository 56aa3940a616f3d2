import { FailureGroup, RunRetryStarted } from '@opsplane/contracts'
import { defineList, type Route } from '@opsplane/http'
import { createGroupRetries } from '@opsplane/postgres'
import { groupRetryRoutes, type ServiceContext } from '@opsplane/service'
import { requireWorkflow } from '../queries.js'
import { runFailures } from './groups.js'
import { runRetryKind } from './retries.js'

const tag = 'Runs'

/** @param wake called when a retry was created */
export function runFailureRoutes(
  { database, cursors }: Pick<ServiceContext, 'database' | 'cursors'>,
  wake: () => void,
): Route[] {
  const { sql } = database
  return [
    defineList({
      operationId: 'listRunFailures',
      path: '/runs/failures',
      summary: 'List failed runs by workflow and cause',
      description:
        'Lists runs with the status failed or dead; a retried run is not listed until it fails again. The group with ' +
        'the latest failure comes first.',
      tag,
      scope: 'runs:read',
      sorts: [],
      response: FailureGroup,
      handler: ({ query: { limit, after }, binding, meta: { tenant } }) =>
        runFailures(sql, { tenant, limit, after, binding, cursors }),
    }),

    ...groupRetryRoutes({
      ...{ kind: runRetryKind, retries: createGroupRetries(database, runRetryKind), cursors, wake },
      ...{ started: RunRetryStarted, tag, base: '/runs', noun: 'run', done: 'retried' },
      scopes: { read: 'runs:read', write: 'runs:manage' },
      descriptions: {
        retry:
          'Retries the runs of the group that had failed when it was listed with this `to` and were not retried since, like ' +
          '`POST /runs/:id/retry`, some at a time, with their original rights. With `dryRun` it only counts. `conflict` while ' +
          'the group is being retried.',
        cancel: 'No more runs are retried, except those in progress. Runs already retried continue.',
      },
      requireTarget: (id, tenant) => requireWorkflow(sql, id, tenant),
      describeRequest: ({ actor }) => ({ actor }),
    }),
  ]
}
