import type { components } from '@opsplane/client'
import { OpsplaneError } from '@opsplane/client'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { createApi } from '../../api/api.js'
import { Problem } from '../../patterns/problem.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'
import { SubmitForm, Tick, useChange } from '../people/form.js'
import { policyQuery, rolesQuery } from '../people/queries.js'

type SignInPolicy = components['schemas']['SignInPolicy']
const words = texts.people.signOn

/** Whom the workspace requires to use a second factor. */
export function Policy() {
  const { place } = usePlace()
  const { data, error, refetch } = useQuery(policyQuery(place))
  return (
    <section className="panel">
      <h2>{words.policy}</h2>
      <p className="muted">{words.policyHelp}</p>
      {error && !data && <Problem error={error} onRetry={() => void refetch()} />}
      {data && <PolicyForm policy={data} />}
    </section>
  )
}

const ways = ['none', 'roles', 'all'] as const
type Way = (typeof ways)[number]

const wayOf = ({ factorRequired, factorRoles }: SignInPolicy): Way =>
  factorRequired ? 'all' : factorRoles.length > 0 ? 'roles' : 'none'

function PolicyForm({ policy }: { policy: SignInPolicy }) {
  const { place, me, may } = usePlace()
  const { data: roles = [] } = useQuery({ ...rolesQuery(place), enabled: may('roles:read') })
  const [way, setWay] = useState(wayOf(policy))
  const [chosen, setChosen] = useState(policy.factorRoles)
  const save = useChange((body: SignInPolicy) => createApi(place).put('/settings/sign-in-policy', { body }))
  const isOwner = me.workspace?.role === 'owner'
  const turn = (role: string, isOn: boolean) =>
    setChosen(isOn ? [...chosen, role] : chosen.filter((each) => each !== role))
  const submit = () =>
    save.mutate({ factorRequired: way === 'all', factorRoles: way === 'roles' ? chosen : [] })
  const wantsFactor = save.error instanceof OpsplaneError && save.error.code === 'factor_enrolment_required'
  const fields = (
    <>
      <div className="choice" role="radiogroup" aria-label={words.policy}>
        {ways.map((each) => (
          <label key={each} className="choice-option">
            <input
              type="radio"
              name="policy"
              checked={way === each}
              disabled={!isOwner}
              onChange={() => setWay(each)}
            />
            {words[each]}
          </label>
        ))}
      </div>
      {way === 'roles' && (
        <div className="family indented">
          {roles.map(({ name }) => (
            <Tick
              key={name}
              label={name}
              isOn={chosen.includes(name)}
              isDisabled={!isOwner}
              onTurn={(isOn) => turn(name, isOn)}
            />
          ))}
        </div>
      )}
    </>
  )
  if (!isOwner)
    return (
      <div className="panel-form">
        {fields}
        <p className="small muted">{words.policyForOwners}</p>
      </div>
    )
  return (
    <SubmitForm
      label={words.savePolicy}
      change={wantsFactor ? { ...save, error: null } : save}
      onSubmit={submit}
      end={
        save.isSuccess && (
          <span className="state-good" role="status">
            {words.savedPolicy}
          </span>
        )
      }
    >
      {fields}
      {wantsFactor && (
        <p className="state-bad" role="alert">
          {words.ownFactorFirst}{' '}
          <Link to="/account" className="link">
            {words.toAccount}
          </Link>
        </p>
      )}
    </SubmitForm>
  )
}
