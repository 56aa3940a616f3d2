import { Button, NativeSelect } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { apiPath, createApi, type ReplayJob } from '../../api/api.js'
import { replayCountQuery, replayRequest, replaysQuery } from '../../api/webhook-queries.js'
import { AsCurl } from '../../patterns/curl.js'
import { Icon } from '../../patterns/icons.js'
import { Problem } from '../../patterns/problem.js'
import { Progress } from '../../patterns/progress.js'
import { Refusal } from '../../patterns/refusal.js'
import { ExactTime, Time } from '../../patterns/time.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'

const words = texts.webhooks.replay
const minute = 60_000
const lengths = { quarter: 15 * minute, hour: 60 * minute, day: 24 * 60 * minute, week: 7 * 24 * 60 * minute }
type Length = keyof typeof lengths
const kinds = { failed: ['failed'], all: ['failed', 'succeeded'] } as const
type Kind = keyof typeof kinds

/** Replays the failed deliveries, or all of them, of a time range: shows the count and progress, and can cancel the job. */
export function Replay({ webhookId }: { webhookId: string }) {
  const { may } = usePlace()
  return (
    <>
      {may('webhooks:write') && <NewReplay webhookId={webhookId} />}
      <Jobs webhookId={webhookId} />
    </>
  )
}

function NewReplay({ webhookId }: { webhookId: string }) {
  const { place } = usePlace()
  const queries = useQueryClient()
  const [kind, setKind] = useState<Kind>('failed')
  const [length, setLength] = useState<Length>('hour')
  // Later failures are excluded, so that the replay matches the count on the button.
  const [toMs, setToMs] = useState(() => Date.now())
  const range = replayRequest({ status: kinds[kind], fromMs: toMs - lengths[length], toMs })
  const count = useQuery(replayCountQuery(place, webhookId, range))
  const { count: found = 0 } = count.data ?? {}
  const start = useMutation({
    mutationFn: () =>
      createApi(place).post('/webhooks/{id}/deliveries/replay', {
        params: { path: { id: webhookId } },
        body: range,
      }),
    onSettled: () =>
      queries.invalidateQueries({ queryKey: replaysQuery(place, webhookId).queryKey.slice(0, 3) }),
  })
  const change = <Value,>(set: (value: Value) => void) => {
    return (value: Value) => {
      set(value)
      setToMs(Date.now())
      start.reset()
    }
  }
  return (
    <section className="replay-form">
      <NativeSelect
        size="xs"
        aria-label={words.kind}
        value={kind}
        onChange={({ currentTarget: { value } }) => change(setKind)(value as Kind)}
        data={Object.keys(kinds).map((value) => ({ value, label: words.kinds[value as Kind] }))}
      />
      <NativeSelect
        size="xs"
        aria-label={words.since}
        value={length}
        onChange={({ currentTarget: { value } }) => change(setLength)(value as Length)}
        data={Object.keys(lengths).map((value) => ({ value, label: words.lengths[value as Length] }))}
      />
      <span className="muted replay-count" aria-live="polite">
        {count.data ? words.found(found) : words.counting}
      </span>
      <Refusal error={start.error ?? (count.data ? null : count.error)} />
      <span className="grow" />
      <AsCurl
        request={{ method: 'POST', path: `${apiPath}/webhooks/${webhookId}/deliveries/replay`, body: range }}
      />
      <Button
        size="xs"
        leftSection={<Icon name="replay" />}
        disabled={found === 0 || start.isSuccess}
        loading={start.isPending}
        onClick={() => start.mutate()}
      >
        {words.start(found)}
      </Button>
    </section>
  )
}

function Jobs({ webhookId }: { webhookId: string }) {
  const { place } = usePlace()
  const { data, error, refetch } = useQuery(replaysQuery(place, webhookId))
  if (error && !data) return <Problem error={error} onRetry={() => void refetch()} />
  if (data?.length === 0) return <p className="muted detail-nothing">{words.none}</p>
  return (
    <ul className="rows">
      {(data ?? []).map((job) => (
        <Job key={job.id} job={job} />
      ))}
    </ul>
  )
}

function Job({ job }: { job: ReplayJob }) {
  const { id, status, total, replayed, createdAt, finishedAt, filter } = job
  return (
    <li className="rows-row replay-job">
      <span className="nowrap">{words.states[status]}</span>
      <Progress label={words.progress(id)} done={replayed} total={total} />
      <span className="number nowrap">{words.of(replayed, total)}</span>
      <span className="muted ellipsis">
        {filter.from !== null && (
          <>
            {words.from} <ExactTime at={filter.from} />
          </>
        )}
      </span>
      <span className="grow" />
      {status === 'running' ? (
        <Cancel job={job} />
      ) : (
        <span className="muted number">
          <Time at={finishedAt ?? createdAt} />
        </span>
      )}
    </li>
  )
}

function Cancel({ job: { id: replayId, webhookId } }: { job: ReplayJob }) {
  const { place, may } = usePlace()
  const queries = useQueryClient()
  const cancel = useMutation({
    mutationFn: () =>
      createApi(place).post('/webhooks/{id}/replays/{replayId}/cancel', {
        params: { path: { id: webhookId, replayId } },
      }),
    onSettled: () => queries.invalidateQueries({ queryKey: replaysQuery(place, webhookId).queryKey }),
  })
  if (!may('webhooks:write')) return null
  return (
    <>
      <Refusal error={cancel.error} />
      <Button size="xs" variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
        {words.cancel}
      </Button>
    </>
  )
}
