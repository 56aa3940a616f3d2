import { useMediaQuery } from '@mantine/hooks'
import { useQueries, useQuery } from '@tanstack/react-query'
import { Link, type LinkProps } from '@tanstack/react-router'
import type { FailureGroup } from '../../api/api.js'
import {
  failurePaths,
  failuresQuery,
  type Retrying,
  retryingDeliveries,
  retryingExecutions,
  retryingRuns,
} from '../../api/failure-queries.js'
import { webhooksQuery } from '../../api/queries.js'
import { DetailSkeleton, PageHead } from '../../patterns/page.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'
import { FailureColumn } from './column.js'
import { DeadLetters } from './dead-letters.js'
import { RetryGroup } from './retry-group.js'

const words = texts.failed
const kinds = ['deliveries', 'runs', 'executions'] as const

/** Current failures by cause and target: deliveries, runs, executions and dead letters. */
export function FailedNow() {
  const { place } = usePlace()
  // Stacked columns would shift those below them, so they appear together.
  const isStacked = useMediaQuery('(max-width: 999px)', undefined, { getInitialValueInEffect: false })
  const queries = useQueries({ queries: kinds.map((kind) => failuresQuery(place, kind)) })
  const isWaiting = isStacked && queries.some(({ isPending }) => isPending)
  return (
    <>
      <PageHead title={words.title} request={{ path: failurePaths.deliveries }} />
      <div className="failed">
        {isWaiting ? (
          <DetailSkeleton />
        ) : (
          <>
            <Deliveries />
            <Runs />
            <Executions />
            <DeadLetters />
          </>
        )}
      </div>
    </>
  )
}

function Deliveries() {
  const { place } = usePlace()
  const failures = useQuery(failuresQuery(place, 'deliveries'))
  const { data: webhooks = [], isPending } = useQuery(webhooksQuery(place))
  const isPaused = ({ target }: FailureGroup) =>
    webhooks.find(({ id }) => id === target.id)?.status === 'paused'
  return (
    <FailureColumn
      title={words.deliveries}
      about={words.about.deliveries}
      unit={words.units.deliveries}
      none={words.none.deliveries}
      result={failures}
      linkOf={({ target: { id } }) => ({
        to: '/w/$workspace/$environment/deliveries',
        params: place,
        search: { status: 'failed', webhook: id },
      })}
      noteOf={(group) =>
        isPaused(group) && (
          <Link
            to="/w/$workspace/$environment/webhooks/$webhookId"
            params={{ ...place, webhookId: group.target.id }}
            className="note"
          >
            {texts.states.paused}
          </Link>
        )
      }
      // The effect of a retry depends on whether the webhook is paused.
      actionOf={retryAll('webhooks:write', retryingDeliveries(place), isPending ? () => undefined : isPaused)}
    />
  )
}

/** The button that retries a whole group, for persons with the permission. */
const retryAll =
  (
    permission: string,
    retrying: Retrying,
    isPaused: (group: FailureGroup) => boolean | undefined = () => false,
  ) =>
  (group: FailureGroup) => (
    <RetryGroup group={group} permission={permission} retrying={retrying} isPaused={isPaused(group)} />
  )

/** Runs and executions have no pages yet, so links lead to their failure events. */
const useFailureEvents = () => {
  const { place } = usePlace()
  return (search: { type: string; actor?: string }): LinkProps => ({
    ...{ to: '/w/$workspace/$environment/events', params: place, search },
  })
}

function Runs() {
  const { place } = usePlace()
  const linkTo = useFailureEvents()
  return (
    <FailureColumn
      title={words.runs}
      about={words.about.runs}
      unit={words.units.runs}
      none={words.none.runs}
      result={useQuery(failuresQuery(place, 'runs'))}
      // The actor of a run's events is its workflow.
      linkOf={({ target: { id } }) => linkTo({ type: 'workflow.run_failed', actor: id })}
      actionOf={retryAll('runs:manage', retryingRuns(place))}
    />
  )
}

function Executions() {
  const { place } = usePlace()
  const linkTo = useFailureEvents()
  return (
    <FailureColumn
      title={words.executions}
      about={words.about.executions}
      unit={words.units.executions}
      none={words.none.executions}
      result={useQuery(failuresQuery(place, 'executions'))}
      linkOf={() => linkTo({ type: 'sdk.execution.failed' })}
      actionOf={retryAll('sdk:invoke', retryingExecutions(place))}
    />
  )
}
