import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { createApi } from '../../api/api.js'
import { usePlace } from '../../place/context.js'
import type { Place } from '../../place/place.js'
import { texts } from '../../texts/en.js'
import { platformKey, readDeadLetters } from '../platform/queries.js'
import { FailureColumn } from './column.js'
import { groupDeadLetters, groupStatusFigures } from './letters.js'

const words = texts.failed
/** Poll interval in milliseconds; no event signals a new dead letter. */
const everyMs = 30_000

/** Dead letters of all workspaces, for operators of the installation. */
const listedLetters = queryOptions({
  queryKey: [...platformKey, 'dead-letters', 'groups'],
  queryFn: async ({ signal }) => {
    const { items, next } = await readDeadLetters({}, undefined, signal)
    return { groups: groupDeadLetters(items), hasMore: next !== undefined }
  },
  refetchInterval: everyMs,
})

const countedLetters = ({ workspace, environment }: Place) =>
  queryOptions({
    queryKey: [workspace, environment, 'workspace-status'],
    queryFn: async ({ signal }) => {
      const params = { path: { slug: workspace } }
      const { data } = await createApi({ workspace, environment }).get('/workspaces/{slug}/status', {
        params,
        signal,
      })
      return { groups: groupStatusFigures(data), hasMore: false }
    },
    refetchInterval: everyMs,
  })

/** Dead letters of consumers: an operator can open the list, an owner sees only the counts of the workspace. */
export function DeadLetters() {
  const { me, may } = usePlace()
  if (me.operator) return <OperatorLetters />
  return may('workspace:write') ? <WorkspaceLetters /> : null
}

function OperatorLetters() {
  const { place } = usePlace()
  return (
    <FailureColumn
      title={words.deadLetters}
      about={
        <>
          {words.about.deadLetters}
          <Link
            to="/w/$workspace/$environment/platform/dead-letters"
            params={place}
            className="link failed-link"
          >
            {words.redrive}
          </Link>
        </>
      }
      unit={words.units.deadLetters}
      none={words.none.deadLetters}
      result={useQuery(listedLetters)}
      linkOf={({ service }) => ({
        to: '/w/$workspace/$environment/platform/dead-letters',
        params: place,
        search: { service },
      })}
    />
  )
}

function WorkspaceLetters() {
  const { place } = usePlace()
  return (
    <FailureColumn
      title={words.deadLetters}
      about={`${words.about.deadLetters} ${words.redrive}`}
      unit={words.units.deadLetters}
      none={words.none.deadLetters}
      result={useQuery(countedLetters(place))}
    />
  )
}
