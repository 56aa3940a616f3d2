import { Spotlight, type SpotlightActionData, spotlight } from '@mantine/spotlight'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { isReference, isRequestId } from '../api/resolve.js'
import { Icon } from '../patterns/icons.js'
import { usePlace } from '../place/context.js'
import { environments } from '../place/place.js'
import { texts } from '../texts/en.js'
import { findAreas } from './areas.js'

const words = texts.palette

interface PaletteProps {
  onClose(): void
  onKeys(): void
}

/** Finds pages and commands by name, and records by id. Mounted only while it is open. */
export function Palette({ onClose, onKeys }: PaletteProps) {
  const [query, setQuery] = useState('')
  const pages = usePages(onKeys)
  const records = useRecords(query.trim())
  useEffect(() => spotlight.open(), [])
  const requests = useRequests(query.trim())
  const matchingPages = pages.map(({ group, actions }) => ({
    group,
    actions: actions.filter(({ label }) => matches(label, query)),
  }))
  const isName = matchingPages.some(({ actions }) => actions.length > 0)
  const groups = [
    { group: words.records, actions: records.length > 0 || isName ? records : requests },
    ...matchingPages,
  ]
  return (
    <Spotlight
      actions={groups.filter(({ actions }) => actions.length > 0)}
      query={query}
      onQueryChange={setQuery}
      // The actions are already filtered.
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
  const pages = findAreas(me).map(({ name, to, key }) => ({
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

/** Action for a pasted id or number: opens the page that resolves it. */
function useRecords(text: string): SpotlightActionData[] {
  const { place } = usePlace()
  const navigate = useNavigate()
  if (!isReference(text)) return []
  const onClick = () =>
    void navigate({
      to: '/w/$workspace/$environment/record/$reference',
      params: { ...place, reference: text },
    })
  return [
    { id: text, label: words.open(text), description: text, leftSection: <Icon name="send" />, onClick },
  ]
}

/** Action for a text that can be a request id, which clients choose freely. */
function useRequests(text: string): SpotlightActionData[] {
  const { place } = usePlace()
  const navigate = useNavigate()
  if (!isRequestId(text)) return []
  const onClick = () =>
    void navigate({ to: '/w/$workspace/$environment/events', params: place, search: { request: text } })
  return [
    {
      id: text,
      label: words.request(text),
      leftSection: <Icon name="events" />,
      onClick,
    },
  ]
}
