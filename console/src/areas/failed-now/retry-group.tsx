import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { FailureGroup } from '../../api/api.js'
import type { Retrying } from '../../api/failure-queries.js'
import { Confirm } from '../../patterns/confirm.js'
import { Progress } from '../../patterns/progress.js'
import { Refusal } from '../../patterns/refusal.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'

const words = texts.failed
const progressEveryMs = 1_000

interface RetryGroupProps {
  group: FailureGroup
  permission: string
  retrying: Retrying
  /**
   * Whether the target is paused: retried deliveries are then held until it is resumed, so the button asks for confirmation.
   * `undefined` while loading.
   */
  isPaused: boolean | undefined
}

/** Retries all failures of a group that existed when it was listed, shows the progress, and can cancel the job. */
export function RetryGroup({ group, permission, retrying, isPaused }: RetryGroupProps) {
  const { place, may } = usePlace()
  const queries = useQueryClient()
  const start = useMutation({ mutationFn: (_isHeld: boolean) => retrying.start(group) })
  // The value when the retry started.
  const isHeld = start.variables ?? false
  const begun = start.data
  const job = useQuery({
    queryKey: [place.workspace, place.environment, 'retry', begun?.id],
    queryFn: ({ signal }) => retrying.read(group, begun?.id ?? '', signal),
    enabled: begun !== undefined,
    refetchInterval: ({ state: { data } }) =>
      (data ?? begun)?.status === 'running' ? progressEveryMs : false,
  })
  const cancel = useMutation({
    mutationFn: (jobId: string) => retrying.cancel(group, jobId),
    onSettled: () => job.refetch(),
  })
  const present = job.data ?? begun
  const { name } = group.target
  useEffect(() => {
    if (present === undefined || present.status === 'running') return
    const { done, refused } = present
    notifications.show({ message: (isHeld ? words.held : words.retried)(done, refused, name) })
    void queries.invalidateQueries({ queryKey: [place.workspace, place.environment, 'failures'] })
  }, [present, name, isHeld, queries, place])
  if (!may(permission)) return null
  if (present?.status === 'running')
    return (
      <span className="row failed-retry">
        <Progress label={words.progress(name)} done={present.done} total={present.total} />
        <span className="number nowrap">{words.of(present.done, present.total)}</span>
        <Refusal error={cancel.error} />
        <Button
          size="xs"
          variant="default"
          loading={cancel.isPending}
          onClick={() => cancel.mutate(present.id)}
        >
          {words.cancel}
        </Button>
      </span>
    )
  return (
    <span className="row failed-retry">
      <Refusal error={start.error} />
      {!isPaused ? (
        <Button
          size="xs"
          variant="default"
          loading={start.isPending}
          disabled={isPaused === undefined}
          title={words.retryHint(group.count, name)}
          onClick={() => start.mutate(false)}
        >
          {words.retryAll(group.count)}
        </Button>
      ) : (
        <Confirm
          label={words.retryAll(group.count)}
          question={words.retryPaused(group.count, name)}
          isHarmless
          isBusy={start.isPending}
          onConfirm={() => start.mutate(true)}
        />
      )}
    </span>
  )
}
