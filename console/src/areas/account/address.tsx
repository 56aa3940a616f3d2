import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { createApi } from '../../api/api.js'
import { Empty } from '../../patterns/problem.js'
import { consumeKeptToken } from '../../place/fragment.js'
import { Refusal } from '../../proof/refusal.js'
import { texts } from '../../texts/en.js'
import { AccountFrame } from './frame.js'

const words = texts.account

/** Target of the link in the mail that verifies an address; it needs no further action. */
export function ProveAddress() {
  const isBegun = useRef(false)
  const prove = useMutation({
    mutationFn: (token: string) => createApi().post('/auth/address/prove/confirm', { body: { token } }),
  })
  useEffect(() => {
    // The token is valid only once.
    if (isBegun.current) return
    isBegun.current = true
    prove.mutate(consumeKeptToken(sessionStorage) ?? '')
  }, [prove])
  return (
    <AccountFrame>
      {prove.isSuccess && <Empty title={words.addressProven} />}
      <Refusal
        error={prove.error}
        words={{ invalid_token: words.addressOver, validation_failed: words.addressOver }}
      />
      <Link to="/account" className="link">
        {words.toAccount}
      </Link>
    </AccountFrame>
  )
}
