import { Spotlight, type SpotlightActionData, spotlight } from '@mantine/spotlight'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { apiOf } from '../api/api.js'
import { webhooksQuery } from '../api/queries.js'
import { Icon } from '../patterns/icons.js'
import { usePlace } from '../place/context.js'
import { environments } from '../place/place.js'
import { texts } from '../texts/en.js'
import { areasOf } from './areas.js'

const words = texts.palette
/** An id as the platform makes them: a kind, and a time with something random. */
const idPattern = /^([a-z]{2,5})_[0-9A-HJKMNP-TV-Z]{26}$/

interface PaletteProps {
  onClose(): void
  onKeys(): void
}

/** Pages and commands by their names, and whatever has an id by that. It is there while it is open. */
export function Palette({ onClose, onKeys }: PaletteProps) {
  const [query, setQuery] = useState('')
  const pages = usePages(onKeys)
  const records = useRecords(query.trim())
  useEffect(() => spotlight.open(), [])
  const groups = [
    { group: words.records, actions: records },
    ...pages.map(({ group, actions }) => ({
      group,
      actions: actions.filter(({ label }) => matches(label, query)),
    })),
  ]
  return (
    <Spotlight
      actions={groups.filter(({ actions }) => actions.length > 0)}
      query={query}
      onQueryChange={setQuery}
      // The actions are those that match already.
      filter={(_, all) => all}
      nothingFound={words.nothing}
      shortcut={null}
      onSpotlightClose={onClose}
      lockScroll={false}
      overlayProps={{ blur: 0 }}
      scrollable
      maxHeight={360}
      size={560}
      transitionProps={{ duration: 80 }}
      searchProps={{ leftSection: <Icon name="search" />, placeholder: words.placeholder }}
    />
  )
}

const matches = (label: string | undefined, query: string): boolean =>
  (label ?? '').toLowerCase().includes(query.trim().toLowerCase())

interface Group {
  group: string
  actions: SpotlightActionData[]
}

function usePages(onKeys: () => void): Group[] {
  const { place, me } = usePlace()
  const navigate = useNavigate()
  const pages = areasOf(me).map(({ name, to, key }) => ({
    id: name,
    label: texts.areas[name],
    leftSection: <Icon name={name} />,
    rightSection: <kbd>g {key}</kbd>,
    onClick: () => void navigate({ to, params: place }),
  }))
  const others = environments.filter((environment) => environment !== place.environment)
  const switches = others.map((environment) => ({
    id: environment,
    label: words.environment(texts.environments[environment]),
    leftSection: <i className={`environment-dot environment-${environment}`} />,
    onClick: () =>
      void navigate({ to: '/w/$workspace/$environment/failed', params: { ...place, environment } }),
  }))
  const keys = {
    id: 'keys',
    label: texts.shell.keys,
    leftSection: <Icon name="keyboard" />,
    rightSection: <kbd>?</kbd>,
    onClick: onKeys,
  }
  return [
    { group: words.pages, actions: pages },
    { group: words.actions, actions: [...switches, keys] },
  ]
}

/** What an id that was pasted opens. What has no page yet is shown by its events. */
function useRecords(text: string): SpotlightActionData[] {
  const { place } = usePlace()
  const navigate = useNavigate()
  const openDelivery = useDeliveryOpener()
  const kind = idPattern.exec(text)?.[1]
  if (kind === undefined) return []
  const action = (label: string, onClick: () => void): SpotlightActionData[] => [
    { id: text, label, description: text, leftSection: <Icon name="send" />, onClick },
  ]
  if (kind === 'evt')
    return action(
      words.openEvent,
      () =>
        void navigate({
          to: '/w/$workspace/$environment/events/$eventId',
          params: { ...place, eventId: text },
        }),
    )
  if (kind === 'wh')
    return action(
      words.openWebhook,
      () =>
        void navigate({
          to: '/w/$workspace/$environment/webhooks/$webhookId',
          params: { ...place, webhookId: text },
        }),
    )
  if (kind === 'del') return action(words.openDelivery, () => void openDelivery(text))
  return action(
    words.eventsOf(text),
    () =>
      void navigate({ to: '/w/$workspace/$environment/events', params: place, search: { resource: text } }),
  )
}

/** A delivery is read by its webhook: each of them is asked for it. */
function useDeliveryOpener() {
  const { place } = usePlace()
  const queries = useQueryClient()
  const navigate = useNavigate()
  return async (deliveryId: string) => {
    const { notifications } = await import('@mantine/notifications')
    const webhooks = await queries.ensureQueryData(webhooksQuery(place))
    const asked = webhooks.map(async ({ id }) => {
      const path = { id, deliveryId }
      await apiOf(place).get('/webhooks/{id}/deliveries/{deliveryId}', { params: { path } })
      return id
    })
    const webhookId = await Promise.any(asked).catch(() => undefined)
    if (webhookId === undefined) return void notifications.show({ message: words.unknownDelivery })
    await navigate({
      to: '/w/$workspace/$environment/deliveries/$webhookId/$deliveryId',
      params: { ...place, webhookId, deliveryId },
    })
  }
}
