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
    onSuccess: ({ sent, refused }) => {
      const message = refused === 0 ? words.retriedAll(sent) : words.someRefused(refused)
      notifications.show({ message })
    },
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

async function retryAll(place: Place, deliveries: readonly Delivery[], onDone: (done: number) => void) {
  const rest = deliveries.values()
  let [sent, refused] = [0, 0]
  const worker = async () => {
    for (const { webhookId, id: deliveryId } of rest) {
      const path = { id: webhookId, deliveryId }
      const retried = apiOf(place).post('/webhooks/{id}/deliveries/{deliveryId}/retry', { params: { path } })
      if (
        await retried.then(
          () => true,
          () => false,
        )
      )
        sent++
      else refused++
      onDone(sent + refused)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return { sent, refused }
}
