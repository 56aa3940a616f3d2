import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { createApi, type User } from '../../api/api.js'
import { Problem } from '../../patterns/problem.js'
import { usePlace } from '../../place/context.js'
import { Refusal } from '../../proof/refusal.js'
import { texts } from '../../texts/en.js'
import { Choice, useChange } from './form.js'
import { dependentsQuery, membersQuery } from './queries.js'

const words = texts.people.users

/** Confirmation before a user is removed: lists what depends on them, and asks who takes it over. */
export function RemoveUser({ user, onClose }: { user: User; onClose(): void }) {
  const { place } = usePlace()
  const dependents = useQuery(dependentsQuery(place, user.id))
  const { data: members = [] } = useQuery(membersQuery(place))
  const [successor, setSuccessor] = useState('')
  const remove = useChange(() =>
    createApi(place).delete('/settings/users/{id}', {
      params: { path: { id: user.id }, query: successor === '' ? {} : { successor } },
    }),
  )
  const name = user.name || user.email
  const left = remove.data?.data.dependents.filter(({ problem }) => problem !== null)
  if (left !== undefined)
    return (
      <section className="panel" role="status">
        <p>{words.removed(left.length)}</p>
        <ul>
          {left.map(({ id, name: what, problem }) => (
            <li key={id}>
              {what}: <span className="muted">{problem}</span>
            </li>
          ))}
        </ul>
      </section>
    )
  const { data } = dependents
  const others = members.filter(({ id, status }) => id !== user.id && status === 'active')
  return (
    <section className="panel">
      <h3>{words.removeTitle(name)}</h3>
      <p className="muted">{words.removeHelp}</p>
      {dependents.error && <Problem error={dependents.error} onRetry={() => void dependents.refetch()} />}
      {data && (
        <>
          <h4 className="small muted">{words.dependents}</h4>
          {data.items.length === 0 && <p>{words.noDependents}</p>}
          <ul className="things">
            {data.items.map(({ kind, id, name: what, environment, takeOver }) => (
              <li key={`${kind} ${id}`} className="thing">
                <span className="grow ellipsis" dir="auto">
                  {what}
                </span>
                <span className="small muted">
                  {[kind.replaceAll('_', ' '), texts.environments[environment]].join(' · ')}
                  {takeOver === null && ` · ${words.ends}`}
                </span>
              </li>
            ))}
          </ul>
          {data.unanswered.length > 0 && (
            <p className="state-warn">{words.unanswered(data.unanswered.join(', '))}</p>
          )}
          {data.items.some(({ takeOver }) => takeOver !== null) && (
            <Choice
              label={words.successor}
              value={successor}
              options={[
                ['', words.noSuccessor],
                ...others.map(({ id, name: other, email }) => [id, other || email] as const),
              ]}
              onChange={setSuccessor}
            />
          )}
        </>
      )}
      <Refusal error={remove.error} />
      <span className="row wrap">
        <Button
          size="xs"
          className="danger"
          disabled={data === undefined}
          loading={remove.isPending}
          onClick={() => remove.mutate(undefined)}
        >
          {words.removeConfirm(name)}
        </Button>
        <Button size="xs" variant="default" onClick={onClose}>
          {texts.common.keep}
        </Button>
      </span>
    </section>
  )
}
