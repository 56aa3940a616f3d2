import { Button, Tooltip } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useId } from 'react'
import { createApi, type DeliveryDetail } from '../../api/api.js'
import { deliveryQuery } from '../../api/queries.js'
import { Icon } from '../../patterns/icons.js'
import { useKeys } from '../../patterns/keys.js'
import { Refusal } from '../../patterns/refusal.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'

const words = texts.deliveries

/** Whether a replay is still pending. */
export const isReplaying = ({ replays }: Pick<DeliveryDetail, 'replays'>): boolean =>
  replays.some(({ status }) => status === 'pending' || status === 'retrying')

/** Retries a failed delivery, or replays its event as a new delivery. The result is shown next to the buttons. */
export function Resend({ delivery }: { delivery: DeliveryDetail }) {
  const { id: deliveryId, webhookId, status } = delivery
  const [replayHelp, retryHelp] = [useId(), useId()]
  const { place, may } = usePlace()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const path = { id: webhookId, deliveryId }
  const settle = () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: deliveryQuery(place, webhookId, deliveryId).queryKey }),
      queries.invalidateQueries({ queryKey: [place.workspace, place.environment, 'deliveries'] }),
    ])
  const retry = useMutation({
    mutationFn: () =>
      createApi(place).post('/webhooks/{id}/deliveries/{deliveryId}/retry', { params: { path } }),
    onSettled: settle,
  })
  const replay = useMutation({
    mutationFn: () =>
      createApi(place).post('/webhooks/{id}/deliveries/{deliveryId}/replay', { params: { path } }),
    onSuccess: ({ data }) =>
      navigate({
        to: '/w/$workspace/$environment/deliveries/$webhookId/$deliveryId',
        params: { ...place, webhookId, deliveryId: data.id },
        search: true,
      }),
    onSettled: settle,
  })
  const isFailed = status === 'failed'
  const isOnItsWay = status === 'pending' || status === 'retrying'
  const mayNow = may('webhooks:write')
  useKeys(mayNow && isFailed && !retry.isPending ? { r: () => retry.mutate() } : {})
  if (!mayNow) return null
  const error = retry.error ?? replay.error
  return (
    <>
      <Refusal error={error} />
      {retry.data !== undefined && retry.data.data.status !== 'held' && !isFailed && !error && (
        <span className="state-good nowrap" role="status">
          {words.retried}
        </span>
      )}
      <span id={replayHelp} className="visually-hidden">
        {isOnItsWay ? words.onItsWay : words.replayHint}
      </span>
      <span id={retryHelp} className="visually-hidden">
        {words.retryHint}
      </span>
      <Tooltip label={isOnItsWay ? words.onItsWay : words.replayHint}>
        <Button
          size="xs"
          variant="default"
          leftSection={<Icon name="replay" />}
          data-disabled={isOnItsWay}
          aria-disabled={isOnItsWay}
          aria-describedby={replayHelp}
          loading={replay.isPending}
          onClick={() => !isOnItsWay && replay.mutate()}
        >
          {words.replay}
        </Button>
      </Tooltip>
      {isFailed && (
        <Tooltip label={words.retryHint}>
          <Button
            size="xs"
            {...(isReplaying(delivery) && { variant: 'default' })}
            leftSection={<Icon name="retry" />}
            aria-describedby={retryHelp}
            loading={retry.isPending}
            onClick={() => retry.mutate()}
          >
            {words.retry}
          </Button>
        </Tooltip>
      )}
    </>
  )
}
