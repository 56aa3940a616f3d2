import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { createApi, type IdentityProvider } from '../../api/api.js'
import { Confirm } from '../../patterns/confirm.js'
import { Id } from '../../patterns/copy.js'
import { DetailBody, DetailHead, Facts } from '../../patterns/page.js'
import { usePlace } from '../../place/context.js'
import { Refusal } from '../../proof/refusal.js'
import { texts } from '../../texts/en.js'
import { useChange } from '../people/form.js'
import { providersQuery } from '../people/queries.js'
import { type ProviderBody, ProviderForm } from './provider-form.js'

const route = getRouteApi('/w/$workspace/$environment/people/sign-on/$providerId')
const words = texts.people.signOn
const listed = '/w/$workspace/$environment/people/sign-on'

/** An identity provider: the addresses to register with it, and its sign-in settings. */
export function ProviderPage() {
  const { place, may } = usePlace()
  const navigate = useNavigate()
  const { providerId } = route.useParams()
  const { data, error, refetch } = useQuery(providersQuery(place))
  const provider = data && (data.find(({ id }) => id === providerId) ?? null)
  const params = { path: { id: providerId } }
  const save = useChange(({ issuer: _, clientSecret, ...body }: ProviderBody) =>
    createApi(place).patch('/settings/identity-providers/{id}', {
      params,
      body: { ...body, ...(clientSecret !== '' && { clientSecret }) },
    }),
  )
  const remove = useChange(() => createApi(place).delete('/settings/identity-providers/{id}', { params }))
  return (
    <>
      <DetailHead title={provider?.name ?? ''} closed={{ to: listed, params: place }} />
      <DetailBody query={{ data: provider, error, refetch }}>
        {(shown) => (
          <>
            <Addresses provider={shown} />
            <div className="panel">
              <ProviderForm
                key={`${shown.id} ${shown.version}`}
                provider={shown}
                label={words.save}
                change={save}
                isFixed={!may('owners:manage')}
                onSave={(body) => save.mutate(body)}
              />
              {save.isSuccess && (
                <p className="state-good" role="status">
                  {words.saved}
                </p>
              )}
              {may('owners:manage') && (
                <footer className="panel-end">
                  <Refusal error={remove.error} />
                  <Confirm
                    label={words.remove}
                    question={words.removeAsk(shown.name)}
                    isBusy={remove.isPending}
                    onConfirm={() =>
                      remove.mutate(undefined, {
                        onSuccess: () => void navigate({ to: listed, params: place }),
                      })
                    }
                  />
                </footer>
              )}
            </div>
          </>
        )}
      </DetailBody>
    </>
  )
}

function Addresses({ provider: { id, redirectUri, backchannelLogoutUri } }: { provider: IdentityProvider }) {
  return (
    <section className="panel">
      <h3>{words.register}</h3>
      {redirectUri === null ? (
        <p className="state-warn">{words.noOrigin}</p>
      ) : (
        <Facts
          facts={[
            [words.redirectUri, <Id key={id} value={redirectUri} />],
            [words.logoutUri, backchannelLogoutUri && <Id key="logout" value={backchannelLogoutUri} />],
          ]}
        />
      )}
    </section>
  )
}
