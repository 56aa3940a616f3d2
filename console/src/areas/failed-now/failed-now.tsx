import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { apiPath, type Delivery, type Execution, type Run } from '../../api/api.js'
import {
  executionsPath,
  mostWebhooks,
  readAllDeliveries,
  readFailedExecutions,
  readFailedRuns,
  unnamedEveryMs,
  webhooksQuery,
} from '../../api/queries.js'
import { PageHead } from '../../patterns/page.js'
import { usePlace } from '../../place/context.js'
import type { Place } from '../../place/place.js'
import { texts } from '../../texts/en.js'
import { causeOf } from '../deliveries/causes.js'
import { FailureColumn } from './column.js'
import { RetryGroup } from './retry-group.js'

const words = texts.failed

/** What is failed at this moment, by cause and target: deliveries, runs and executions beside each other. */
export function FailedNow() {
  const { place } = usePlace()
  const { data: [webhook] = [] } = useQuery(webhooksQuery(place))
  const request = {
    path: `${apiPath}/webhooks/${webhook?.id ?? 'wh_…'}/deliveries`,
    query: { status: 'failed' },
  }
  return (
    <>
      <PageHead title={words.title} request={request} />
      <div className="failed">
        <Deliveries />
        <Runs />
        <Executions />
      </div>
    </>
  )
}

const keyOf = ({ workspace, environment }: Place) => [workspace, environment] as const

function Deliveries() {
  const { place } = usePlace()
  const webhooks = useQuery(webhooksQuery(place))
  const ids = webhooks.data?.slice(0, mostWebhooks).map(({ id }) => id)
  const failures = useQuery({
    queryKey: [...keyOf(place), 'deliveries', 'failed', ids],
    refetchInterval: unnamedEveryMs,
    queryFn: async ({ signal }) => {
      const { items, next } = await readAllDeliveries(place, ids ?? [], { status: 'failed' }, {}, signal)
      return { items, hasMore: next !== undefined }
    },
    enabled: ids !== undefined,
  })
  const nameOf = (id: string) => webhooks.data?.find((webhook) => webhook.id === id)
  const error = webhooks.error ?? failures.error
  return (
    <FailureColumn<Delivery>
      title={words.deliveries}
      none={words.none.deliveries}
      result={{
        data: failures.data,
        error,
        reload: () => void Promise.all([webhooks.refetch(), failures.refetch()]),
      }}
      reading={{
        causeOf,
        targetOf: ({ webhookId, url }) => nameOf(webhookId)?.name ?? url,
        atOf: ({ lastAttemptAt, createdAt }) => lastAttemptAt ?? createdAt,
      }}
      linkOf={({ webhookId, id }) => ({
        to: '/w/$workspace/$environment/deliveries/$webhookId/$deliveryId',
        params: { ...place, webhookId, deliveryId: id },
        search: { status: 'failed', webhook: webhookId },
      })}
      noteOf={({ webhookId }) =>
        nameOf(webhookId)?.status === 'paused' && (
          <Link
            to="/w/$workspace/$environment/webhooks/$webhookId"
            params={{ ...place, webhookId }}
            className="note"
          >
            {words.paused}
          </Link>
        )
      }
      actionOf={(items) => <RetryGroup deliveries={items} />}
    />
  )
}

function Runs() {
  const { place } = usePlace()
  const { data, error, refetch } = useQuery({
    queryKey: [...keyOf(place), 'runs', 'failed'],
    refetchInterval: unnamedEveryMs,
    queryFn: ({ signal }) => readFailedRuns(place, signal),
  })
  return (
    <FailureColumn<Run>
      title={words.runs}
      none={words.none.runs}
      result={{ data, error, reload: () => void refetch() }}
      reading={{
        causeOf: ({ error: cause }) => cause?.message ?? texts.causes.unknown,
        targetOf: ({ workflowName }) => workflowName,
        atOf: ({ endedAt, queuedAt }) => endedAt ?? queuedAt,
      }}
      linkOf={({ id }) => ({
        to: '/w/$workspace/$environment/events',
        params: place,
        search: { resource: id },
      })}
    />
  )
}

function Executions() {
  const { place } = usePlace()
  const { data, error, refetch } = useQuery({
    queryKey: [...keyOf(place), 'executions', 'failed', executionsPath],
    refetchInterval: unnamedEveryMs,
    queryFn: ({ signal }) => readFailedExecutions(place, signal),
  })
  return (
    <FailureColumn<Execution>
      title={words.executions}
      none={words.none.executions}
      result={{ data, error, reload: () => void refetch() }}
      reading={{
        causeOf: ({ error: cause, status }) => cause?.message ?? status,
        targetOf: ({ artifact_slug: slug }) => slug,
        atOf: ({ completed_at: ended, started_at: started }) => ended ?? started,
      }}
      linkOf={({ id }) => ({
        to: '/w/$workspace/$environment/events',
        params: place,
        search: { resource: id },
      })}
    />
  )
}
