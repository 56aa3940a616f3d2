import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { apiOf, type Delivery } from '../../api/api.js'
import { usePlace } from '../../place/context.js'
import type { Place } from '../../place/place.js'
import { texts } from '../../texts/en.js'

const words = texts.failed
const atOnce = 4

/** Sends the deliveries that are shown again, and no later failure of the same kind. */
export function RetryGroup({ deliveries }: { deliveries: readonly Delivery[] }) {
  const { place, may } = usePlace()
  const queries = useQueryClient()
  const [done, setDone] = useState(0)
  const retry = useMutation({
    mutationFn: () => retryAll(place, deliveries, setDone),
    onSuccess: (outcome) => notifications.show({ message: messageOf(outcome) }),
    onSettled: () =>
      queries.invalidateQueries({ queryKey: [place.workspace, place.environment, 'deliveries'] }),
  })
  if (!may('webhooks:write')) return null
  return (
    <Button
      size="xs"
      variant="default"
      className="failed-retry"
      disabled={retry.isPending}
      onClick={() => retry.mutate()}
    >
      {retry.isPending ? words.retryingAll(done, deliveries.length) : words.retryAll(deliveries.length)}
    </Button>
  )
}

interface Outcome {
  sent: number
  /** Their webhook is paused. */
  held: number
  refused: number
}

const messageOf = ({ sent, held, refused }: Outcome): string =>
  [
    ...(sent > 0 ? [words.retriedAll(sent)] : []),
    ...(held > 0 ? [words.heldAll(held)] : []),
    ...(refused > 0 ? [words.refusedAll(refused)] : []),
  ].join(' ')

async function retryAll(
  place: Place,
  deliveries: readonly Delivery[],
  onDone: (done: number) => void,
): Promise<Outcome> {
  const rest = deliveries.values()
  const outcome: Outcome = { sent: 0, held: 0, refused: 0 }
  let done = 0
  const worker = async () => {
    for (const { webhookId, id: deliveryId } of rest) {
      const params = { path: { id: webhookId, deliveryId } }
      const retried = apiOf(place).post('/webhooks/{id}/deliveries/{deliveryId}/retry', { params })
      const status = await retried.then(
        ({ data }) => data.status,
        () => undefined,
      )
      if (status === undefined) outcome.refused++
      else if (status === 'held') outcome.held++
      else outcome.sent++
      onDone(++done)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return outcome
}
