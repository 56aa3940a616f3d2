import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { createApi, type User } from '../../api/api.js'
import { Confirm } from '../../patterns/confirm.js'
import { Once } from '../../patterns/one-time-value.js'
import { Problem } from '../../patterns/problem.js'
import { usePlace } from '../../place/context.js'
import { Refusal } from '../../proof/refusal.js'
import { texts } from '../../texts/en.js'
import { SessionText } from '../account/session-text.js'
import { parseUserAgent } from '../account/user-agent.js'
import { useChange } from './form.js'
import { userSessionsQuery } from './queries.js'

const words = texts.people.users

/** Restores access after a lost password or factor, and lists the user's sessions. */
export function UserAccess({ user }: { user: User }) {
  const { place } = usePlace()
  const path = { id: user.id }
  const { data: sessions, error, refetch } = useQuery(userSessionsQuery(place, user.id))
  const end = useChange((sessionId: string) =>
    createApi(place).delete('/settings/users/{id}/sessions/{sessionId}', {
      params: { path: { ...path, sessionId } },
    }),
  )
  const link = useChange(() => createApi(place).post('/settings/users/{id}/reset-link', { params: { path } }))
  const factors = useChange(() =>
    createApi(place).delete('/settings/users/{id}/factors', { params: { path } }),
  )
  const made = link.data?.data
  const name = user.name || user.email
  return (
    <>
      <section className="panel">
        <h3>{words.helpTitle}</h3>
        {made && (
          <div role="status" className="panel-form">
            <p>{words.resetHelp}</p>
            <Once text={made.link ?? made.token} label={texts.common.copy} />
            <p className="small muted">{texts.people.once}</p>
          </div>
        )}
        {factors.isSuccess && <p role="status">{words.factorsRemoved}</p>}
        <Refusal error={end.error ?? link.error ?? factors.error} />
        <span className="row wrap">
          <Button size="xs" variant="default" loading={link.isPending} onClick={() => link.mutate(undefined)}>
            {words.reset}
          </Button>
          <Confirm
            label={words.removeFactors}
            question={words.removeFactorsAsk(name)}
            isBusy={factors.isPending}
            onConfirm={() => factors.mutate(undefined)}
          />
        </span>
      </section>
      {/* Last, as its length is known last. */}
      <section className="panel">
        <h3>{words.sessions}</h3>
        {error && !sessions && <Problem error={error} onRetry={() => void refetch()} />}
        {sessions?.length === 0 && <p className="muted">{words.noSessions}</p>}
        <ul className="things">
          {sessions?.map((session) => (
            <li key={session.id} className="thing">
              <SessionText session={session} />
              {!session.current && (
                <Confirm
                  label={words.endSession}
                  question={words.endSessionAsk(parseUserAgent(session.userAgent))}
                  isBusy={end.isPending && end.variables === session.id}
                  onConfirm={() => end.mutate(session.id)}
                />
              )}
            </li>
          ))}
        </ul>
      </section>
    </>
  )
}
