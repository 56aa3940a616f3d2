import { Button, NativeSelect, Tooltip } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate, useParams } from '@tanstack/react-router'
import { apiPath, createApi, type DeadLetter } from '../../api/api.js'
import { Confirm } from '../../patterns/confirm.js'
import { Id } from '../../patterns/copy.js'
import { Icon } from '../../patterns/icons.js'
import { type Column, List, whenColumn } from '../../patterns/list.js'
import { DetailBody, DetailHead, Facts, Split } from '../../patterns/page.js'
import { Empty } from '../../patterns/problem.js'
import { ExactTime } from '../../patterns/time.js'
import { useList } from '../../patterns/use-list.js'
import { usePlace } from '../../place/context.js'
import { Refusal } from '../../proof/refusal.js'
import { texts } from '../../texts/en.js'
import { NothingMatches } from '../filters.js'
import { PlatformFrame } from './head.js'
import { backendNames, type LetterSearch, letterQuery, platformKey, readDeadLetters } from './queries.js'

const route = getRouteApi('/w/$workspace/$environment/platform/dead-letters')
const pageRoute = getRouteApi('/w/$workspace/$environment/platform/dead-letters/$letterId')
const words = texts.platform.letters
const listed = '/w/$workspace/$environment/platform/dead-letters'

/** Dead letters of all consumers. */
export function DeadLetters() {
  const search = route.useSearch()
  const { letterId } = useParams({ strict: false })
  return (
    <PlatformFrame request={{ path: `${apiPath}/platform/dead-letters`, query: { ...search } }}>
      <Split isOpen={letterId !== undefined} hint={words.select}>
        <Letters search={search} selected={letterId} />
      </Split>
    </PlatformFrame>
  )
}

function Letters({ search, selected }: { search: LetterSearch; selected: string | undefined }) {
  const { place } = usePlace()
  const navigate = useNavigate()
  const view = useList<DeadLetter>({
    queryKey: [...platformKey, 'dead-letters', search],
    read: (after, signal) => readDeadLetters(search, after, signal),
    keyOf: ({ id }) => id,
  })
  return (
    <>
      <div className="filters">
        <NativeSelect
          size="xs"
          aria-label={texts.platform.service}
          value={search.service ?? ''}
          onChange={({ currentTarget: { value } }) =>
            void navigate({
              to: '.',
              search: value === '' ? {} : { service: value as DeadLetter['service'] },
              replace: true,
            })
          }
          data={[
            { value: '', label: words.allServices },
            ...backendNames.map((name) => ({ value: name, label: name })),
          ]}
        />
      </div>
      <List
        label={texts.platform.tabs.deadLetters}
        view={view}
        columns={columns}
        keyOf={({ id }) => id}
        linkOf={({ id }) => ({
          to: '/w/$workspace/$environment/platform/dead-letters/$letterId',
          params: { ...place, letterId: id },
          search: true,
        })}
        selected={selected}
        closed={{ to: listed, params: place, search: true }}
        empty={
          search.service === undefined ? (
            <Empty title={words.empty} help={words.emptyHelp} />
          ) : (
            <NothingMatches title={words.emptyFiltered} />
          )
        }
      />
    </>
  )
}

const columns: Column<DeadLetter>[] = [
  {
    id: 'consumer',
    head: words.consumer,
    width: 'minmax(160px, 1fr)',
    narrow: 'title',
    cell: ({ consumer }) => consumer,
  },
  {
    id: 'event',
    head: words.event,
    width: 'minmax(140px, 1fr)',
    narrow: 'meta',
    cell: ({ eventType }) => <span className="ellipsis muted">{eventType ?? words.notAnEvent}</span>,
  },
  {
    id: 'attempts',
    head: words.tries,
    width: '64px',
    cell: ({ deliveries }) => <span className="number muted">{deliveries}</span>,
  },
  whenColumn(words.when),
]

/** One dead letter, with actions to redrive or drop it. */
export function DeadLetterPage() {
  const { place } = usePlace()
  const { letterId } = pageRoute.useParams()
  const { data, error, refetch } = useQuery(letterQuery(letterId))
  const names = words.facts
  return (
    <>
      <DetailHead title={letterId} closed={{ to: listed, params: place, search: true }}>
        {data && <LetterActions key={letterId} letter={data} />}
      </DetailHead>
      {data === null ? (
        <Empty title={words.gone} />
      ) : (
        <DetailBody query={{ data, error, refetch }}>
          {(letter) => (
            <>
              <div className="story">
                <p>{storyOf(letter)}</p>
              </div>
              <Facts
                facts={[
                  [names.id, <Id key="id" value={letter.id} />],
                  [names.message, letter.messageId && <Id key="message" value={letter.messageId} />],
                  [names.cause, letter.cause],
                  [names.service, letter.service],
                  [names.consumer, letter.consumer],
                  [names.type, letter.eventType ?? words.notAnEvent],
                  [names.workspace, letter.workspaceId && <Id key="workspace" value={letter.workspaceId} />],
                  [names.environment, letter.environment && texts.environments[letter.environment]],
                  [names.created, <ExactTime key="created" at={letter.createdAt} />],
                ]}
              />
            </>
          )}
        </DetailBody>
      )}
    </>
  )
}

function storyOf({ redrivenAt, cause, consumer, service, deliveries }: DeadLetter): string {
  if (redrivenAt !== null) return words.redriven
  return cause === 'SignatureError' ? words.unsigned(consumer) : words.story(consumer, service, deliveries)
}

function LetterActions({ letter: { id, redrivenAt } }: { letter: DeadLetter }) {
  const queries = useQueryClient()
  const settle = () => queries.invalidateQueries({ queryKey: platformKey })
  const params = { path: { id } }
  const redrive = useMutation({
    mutationFn: () => createApi().post('/platform/dead-letters/{id}/redrive', { params }),
    onSettled: settle,
  })
  const drop = useMutation({
    mutationFn: () => createApi().delete('/platform/dead-letters/{id}', { params }),
    onSettled: settle,
  })
  return (
    <>
      <Refusal error={redrive.error ?? drop.error} />
      {redrive.data?.data.redrivenAt === null && (
        <span className="state-bad" role="status">
          {words.failedAgain}
        </span>
      )}
      <Confirm
        label={words.drop}
        question={words.dropAsk(id)}
        isBusy={drop.isPending}
        onConfirm={() => drop.mutate()}
      />
      <Tooltip label={words.redriveHint}>
        <Button
          size="xs"
          leftSection={<Icon name="retry" />}
          loading={redrive.isPending}
          disabled={redrivenAt !== null}
          onClick={() => redrive.mutate()}
        >
          {words.redrive}
        </Button>
      </Tooltip>
    </>
  )
}
