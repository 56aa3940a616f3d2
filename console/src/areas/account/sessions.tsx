import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { createApi } from '../../api/api.js'
import { Confirm } from '../../patterns/confirm.js'
import { Problem } from '../../patterns/problem.js'
import { signInPages } from '../../place/session.js'
import { Refusal } from '../../proof/refusal.js'
import { texts } from '../../texts/en.js'
import { Section } from './frame.js'
import { sessionsQuery } from './queries.js'
import { SessionText } from './session-text.js'
import { parseUserAgent } from './user-agent.js'

const words = texts.account

/** The sessions of a person, and buttons to end them. */
export function Sessions() {
  const queries = useQueryClient()
  const { data, error, refetch } = useQuery(sessionsQuery)
  const end = useMutation({
    mutationFn: (id: string) => createApi().delete('/auth/sessions/{id}', { params: { path: { id } } }),
    onSettled: () => queries.invalidateQueries({ queryKey: sessionsQuery.queryKey }),
  })
  const endAll = useMutation({
    mutationFn: () => createApi().delete('/auth/sessions'),
    onSuccess: () => location.assign(signInPages.signIn),
  })
  return (
    <Section
      title={words.sessions}
      help={words.sessionsHelp}
      end={
        <Confirm
          label={words.endAll}
          question={words.endAllAsk}
          isBusy={endAll.isPending}
          onConfirm={() => endAll.mutate()}
        />
      }
    >
      {error && !data && <Problem error={error} onRetry={() => void refetch()} />}
      <ul className="things">
        {data?.data.map((session) => (
          <li key={session.id} className="thing">
            <SessionText session={session} />
            {!session.current && (
              <Confirm
                label={words.end}
                question={words.endAsk(parseUserAgent(session.userAgent))}
                isBusy={end.isPending && end.variables === session.id}
                onConfirm={() => end.mutate(session.id)}
              />
            )}
          </li>
        ))}
      </ul>
      <Refusal error={end.error ?? endAll.error} />
    </Section>
  )
}
