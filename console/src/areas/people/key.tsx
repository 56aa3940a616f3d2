import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type ApiKey, createApi } from '../../api/api.js'
import { exactTime } from '../../format/times.js'
import { Confirm } from '../../patterns/confirm.js'
import { Id } from '../../patterns/copy.js'
import { Once } from '../../patterns/one-time-value.js'
import { DetailBody, DetailHead, Facts } from '../../patterns/page.js'
import { Empty } from '../../patterns/problem.js'
import { ExactTime } from '../../patterns/time.js'
import { usePlace } from '../../place/context.js'
import { Refusal } from '../../proof/refusal.js'
import { texts } from '../../texts/en.js'
import { useChange } from './form.js'
import { KeyStatus, useMemberName } from './keys.js'
import { keyQuery } from './queries.js'

const route = getRouteApi('/w/$workspace/$environment/people/keys/$keyId')
const words = texts.people.keys

/** An API key: its scopes and last use, and actions to rotate or revoke it. */
export function KeyPage() {
  const { place } = usePlace()
  const { keyId } = route.useParams()
  const search = route.useSearch()
  const { data: key, error, refetch } = useQuery(keyQuery(place, search, keyId))
  return (
    <>
      <DetailHead
        title={key?.name ?? ''}
        closed={{ to: '/w/$workspace/$environment/people/keys', params: place, search: true }}
      />
      {key === null ? (
        <Empty title={texts.problem.missing} help={texts.problem.missingHelp} />
      ) : (
        <DetailBody query={{ data: key, error, refetch }}>
          {(shown) => (
            <>
              <div className="story">
                <KeyStatus status={shown.status} />
                <p>
                  {shown.status === 'rotated'
                    ? words.story.rotated(exactTime(shown.validUntil ?? shown.updatedAt))
                    : words.story[shown.status]}
                </p>
              </div>
              <KeyFacts apiKey={shown} />
              <section className="panel">
                <h3>{words.scopes}</h3>
                <ul className="scopes">
                  {shown.scopes.map((scope) => (
                    <li key={scope} className="mono">
                      {scope}
                    </li>
                  ))}
                </ul>
              </section>
              <KeyActions key={shown.id} apiKey={shown} />
            </>
          )}
        </DetailBody>
      )}
    </>
  )
}

function KeyFacts({ apiKey }: { apiKey: ApiKey }) {
  const { id, prefix, userId, environments, lastUsedAt, createdAt, expiresAt, successorId } = apiKey
  const nameOf = useMemberName()
  const names = words.facts
  return (
    <Facts
      facts={[
        [names.id, <Id key="id" value={id} />],
        [names.prefix, <code key="prefix">{prefix}…</code>],
        [
          names.owner,
          <span key="owner" className="ellipsis" dir="auto">
            {nameOf(userId)}
          </span>,
        ],
        [
          names.environments,
          environments === null
            ? words.everyEnvironment
            : environments.map((each) => texts.environments[each]).join(', '),
        ],
        [names.lastUsed, lastUsedAt ? <ExactTime key="used" at={lastUsedAt} /> : words.never],
        [names.created, <ExactTime key="created" at={createdAt} />],
        [names.expires, expiresAt ? <ExactTime key="expires" at={expiresAt} /> : words.never],
        [names.successor, successorId && <Id key="successor" value={successorId} />],
      ]}
    />
  )
}

function KeyActions({ apiKey: { id, name, status, userId } }: { apiKey: ApiKey }) {
  const { place, me } = usePlace()
  const rotate = useChange(() => createApi(place).post('/auth/tokens/rotate', { body: { id } }))
  const isOwn = userId === me.user.id
  const revoke = useChange(() => {
    const params = { path: { id } }
    return isOwn
      ? createApi(place).delete('/auth/tokens/{id}', { params })
      : createApi(place).delete('/settings/tokens/{id}', { params })
  })
  const made = rotate.data?.data.token
  return (
    <section className="panel">
      {made && (
        <div role="status" className="panel-form">
          <p>{words.shown}</p>
          <Once text={made} label={texts.common.copy} />
        </div>
      )}
      <Refusal error={rotate.error ?? revoke.error} />
      {status === 'active' && (
        <span className="row wrap">
          {isOwn && (
            <Confirm
              label={words.rotate}
              question={words.rotateAsk(name)}
              isBusy={rotate.isPending}
              onConfirm={() => rotate.mutate(undefined)}
            />
          )}
          <Confirm
            label={words.revoke}
            question={words.revokeAsk(name)}
            isBusy={revoke.isPending}
            onConfirm={() => revoke.mutate(undefined)}
          />
        </span>
      )}
    </section>
  )
}
