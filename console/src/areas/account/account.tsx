import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { Problem } from '../../patterns/problem.js'
import { Proof } from '../../proof/proof.js'
import { texts } from '../../texts/en.js'
import { Factors } from './factors.js'
import { AccountFrame } from './frame.js'
import { Identities } from './identities.js'
import { Password } from './password.js'
import { Profile } from './profile.js'
import { loginQuery } from './queries.js'
import { Sessions } from './sessions.js'

/** The login of a person: what gets them in, and where they are in. */
export function Account() {
  const { data: me, error, refetch } = useQuery(loginQuery)
  useEffect(() => {
    document.title = `${texts.account.title} · ${texts.product}`
  }, [])
  return (
    <AccountFrame>
      {error && !me && <Problem error={error} onRetry={() => void refetch()} />}
      {me && (
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
