import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { createApi } from '../../api/api.js'
import { Confirm } from '../../patterns/confirm.js'
import { Problem } from '../../patterns/problem.js'
import { Time } from '../../patterns/time.js'
import { Refusal } from '../../proof/refusal.js'
import { texts } from '../../texts/en.js'
import { Section } from './frame.js'
import { identitiesQuery, linkableQuery } from './queries.js'

const words = texts.account

/** Linked identity providers of a person, and providers that can be linked. */
export function Identities() {
  const queries = useQueryClient()
  const { data, error, refetch } = useQuery(identitiesQuery)
  const { data: linkable = [] } = useQuery(linkableQuery)
  // After a refused sign-in, the reason of the provider is in the URL fragment.
  const [refusal] = useState(() => new URLSearchParams(location.hash.slice(1)).get('message'))
  const link = useMutation({
    mutationFn: (providerId: string) =>
      createApi().post('/auth/identities', { body: { providerId, returnTo: '/account' } }),
    onSuccess: ({ data: { location: to } }) => location.assign(to),
  })
  const unlink = useMutation({
    mutationFn: (id: string) => createApi().delete('/auth/identities/{id}', { params: { path: { id } } }),
    onSettled: () => queries.invalidateQueries({ queryKey: identitiesQuery.queryKey }),
  })
  const linked = new Set(data?.map(({ providerId }) => providerId))
  const names = new Map(linkable.map(({ id, name }) => [id, name]))
  const open = linkable.filter(({ id }) => !linked.has(id))
  if (data?.length === 0 && linkable.length === 0) return null
  return (
    <Section title={words.identities} help={words.identitiesHelp}>
      {refusal !== null && (
        <p className="state-bad" role="alert">
          {words.linkRefused}: {refusal}
        </p>
      )}
      {error && !data && <Problem error={error} onRetry={() => void refetch()} />}
      <ul className="things">
        {data?.map(({ id, providerId, issuer, createdAt }) => (
          <li key={id} className="thing">
            <span className="grow">
              <strong dir="auto">{names.get(providerId) ?? issuer}</strong>
              <span className="small muted block">
                {issuer} · <Time at={createdAt} />
              </span>
            </span>
            <Confirm
              label={words.unlink}
              question={words.unlinkAsk}
              isBusy={unlink.isPending && unlink.variables === id}
              onConfirm={() => unlink.mutate(id)}
            />
          </li>
        ))}
      </ul>
      <span className="row wrap">
        {open.map(({ id, name }) => (
          <Button
            key={id}
            size="xs"
            variant="default"
            loading={link.isPending && link.variables === id}
            onClick={() => link.mutate(id)}
          >
            {words.link(name)}
          </Button>
        ))}
      </span>
      <Refusal error={link.error ?? unlink.error} />
    </Section>
  )
}
