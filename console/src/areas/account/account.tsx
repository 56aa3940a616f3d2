import { useQueries, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { DetailSkeleton } from '../../patterns/page.js'
import { Problem } from '../../patterns/problem.js'
import { Proof } from '../../proof/proof.js'
import { texts } from '../../texts/en.js'
import { Factors } from './factors.js'
import { AccountFrame } from './frame.js'
import { Identities } from './identities.js'
import { Password } from './password.js'
import { Profile } from './profile.js'
import { factorsQuery, identitiesQuery, linkableQuery, loginQuery, sessionsQuery } from './queries.js'
import { Sessions } from './sessions.js'

/** The account of a person: sign-in methods and active sessions. */
export function Account() {
  const { data: me, error, refetch } = useQuery(loginQuery)
  // All parts appear together, so that none shifts another; a part that fails shows its own error.
  const parts = useQueries({
    queries: [factorsQuery, sessionsQuery, identitiesQuery, linkableQuery] as const,
  })
  const isPending = parts.some((part) => part.isPending)
  useEffect(() => {
    document.title = `${texts.account.title} · ${texts.product}`
  }, [])
  return (
    <AccountFrame>
      {error && !me && <Problem error={error} onRetry={() => void refetch()} />}
      {!error && (!me || isPending) && <DetailSkeleton />}
      {me && !isPending && (
        <>
          <Profile user={me.user} />
          <Password />
          <Factors />
          <Sessions />
          <Identities />
          <Proof person={me.user} />
        </>
      )}
    </AccountFrame>
  )
}
