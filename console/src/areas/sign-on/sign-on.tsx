import { useQuery } from '@tanstack/react-query'
import { Link, useLocation, useParams } from '@tanstack/react-router'
import { apiPath } from '../../api/api.js'
import { DetailSkeleton, Split } from '../../patterns/page.js'
import { Problem } from '../../patterns/problem.js'
import { Sign } from '../../patterns/state.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'
import { NewButton, PeopleHead } from '../people/head.js'
import { policyQuery, providersQuery, rolesQuery } from '../people/queries.js'
import { Policy } from './policy.js'

const words = texts.people.signOn

/** Sign-in settings of the workspace: second-factor policy and identity providers. */
export function SignOn() {
  const { place, may } = usePlace()
  const { providerId } = useParams({ strict: false })
  const isMaking = useLocation().pathname.endsWith('/sign-on/new')
  const maySee = may('credentials:manage')
  // The parts appear together, so that none shifts another.
  const policy = useQuery(policyQuery(place))
  const roles = useQuery({ ...rolesQuery(place), enabled: may('roles:read') })
  const providers = useQuery({ ...providersQuery(place), enabled: maySee })
  const isPending = policy.isPending || roles.isLoading || providers.isLoading
  return (
    <>
      <PeopleHead request={{ path: `${apiPath}/settings/sign-in-policy` }}>
        {may('owners:manage') && (
          <NewButton
            label={words.create}
            form={{ to: '/w/$workspace/$environment/people/sign-on/new', params: place }}
          />
        )}
      </PeopleHead>
      <Split isOpen={providerId !== undefined || isMaking} hint={maySee ? words.select : ''}>
        {isPending ? (
          <DetailSkeleton />
        ) : (
          <div className="settings-list">
            <Policy />
            {maySee && <Providers selected={providerId} />}
          </div>
        )}
      </Split>
    </>
  )
}

function Providers({ selected }: { selected: string | undefined }) {
  const { place } = usePlace()
  const { data, error, refetch } = useQuery(providersQuery(place))
  return (
    <section className="panel">
      <h2>{words.providers}</h2>
      <p className="muted">{words.providersHelp}</p>
      {error && !data && <Problem error={error} onRetry={() => void refetch()} />}
      {data?.length === 0 && <p>{words.noProviders}</p>}
      <ul className="things">
        {data?.map(({ id, name, issuer, enabled, required }) => (
          <li key={id} className="thing">
            <Link
              to="/w/$workspace/$environment/people/sign-on/$providerId"
              params={{ ...place, providerId: id }}
              className="grow thing-link"
              aria-current={id === selected || undefined}
            >
              <strong dir="auto">{name}</strong>
              <span className="small muted block ellipsis">{issuer}</span>
            </Link>
            {required && <span className="note">{words.required}</span>}
            <Sign tone={enabled ? 'good' : 'idle'}>{enabled ? words.enabled : words.disabled}</Sign>
          </li>
        ))}
      </ul>
    </section>
  )
}
