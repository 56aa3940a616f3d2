import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { createApi } from '../../api/api.js'
import { fieldErrors } from '../../api/failure.js'
import { Confirm } from '../../patterns/confirm.js'
import { Id } from '../../patterns/copy.js'
import { DetailBody, DetailHead, Facts } from '../../patterns/page.js'
import { ExactTime, Time } from '../../patterns/time.js'
import { usePlace } from '../../place/context.js'
import { PasswordField } from '../../proof/fields.js'
import { Refusal } from '../../proof/refusal.js'
import { texts } from '../../texts/en.js'
import { SubmitForm, useChange } from './form.js'
import { secretQuery } from './queries.js'
import { hostsText } from './secrets.js'

const route = getRouteApi('/w/$workspace/$environment/people/secrets/$secretName')
const words = texts.people.secrets
const listed = '/w/$workspace/$environment/people/secrets'

/** The uses of a secret: by what, for whom, and to which host it was sent. */
export function SecretPage() {
  const { place, may } = usePlace()
  const { secretName } = route.useParams()
  const query = useQuery(secretQuery(place, secretName))
  const names = words.facts
  return (
    <>
      <DetailHead title={secretName} closed={{ to: listed, params: place }} />
      <DetailBody query={query}>
        {({ id, name, hosts, version, createdAt, updatedAt, uses }) => (
          <>
            <Facts
              facts={[
                [names.id, <Id key="id" value={id} />],
                [names.hosts, hostsText(hosts)],
                [names.version, String(version)],
                [names.created, <ExactTime key="created" at={createdAt} />],
                [names.changed, <ExactTime key="changed" at={updatedAt} />],
              ]}
            />
            <section className="panel">
              <h3>{words.usesTitle}</h3>
              {uses.length === 0 ? (
                <p className="muted">{words.noUses}</p>
              ) : (
                <ul className="things">
                  {uses.map(({ consumer, host, lastUsedAt, useCount }) => (
                    <li key={`${consumer} ${host}`} className="thing">
                      <span className="grow">
                        <span className="mono block ellipsis">{consumer}</span>
                        <span className="small muted">{host}</span>
                      </span>
                      <span className="number muted">{useCount}×</span>
                      <span className="muted">
                        <Time at={lastUsedAt} />
                      </span>
                    </li>
                  ))}
                </ul>
              )}
            </section>
            {may('secrets:write') && <SecretActions key={name} name={name} />}
          </>
        )}
      </DetailBody>
    </>
  )
}

function SecretActions({ name }: { name: string }) {
  const { place } = usePlace()
  const navigate = useNavigate()
  const params = { path: { name } }
  const rotate = useChange((value: string) =>
    createApi(place).put('/secrets/{name}', { params, body: { value } }),
  )
  const remove = useChange(() => createApi(place).delete('/secrets/{name}', { params }))
  const submit = (form: HTMLFormElement) =>
    rotate.mutate(String(new FormData(form).get('value')), { onSuccess: () => form.reset() })
  return (
    <section className="panel">
      <h3>{words.rotate}</h3>
      <SubmitForm
        label={words.rotate}
        change={rotate}
        onSubmit={submit}
        end={
          rotate.isSuccess && (
            <span className="state-good" role="status">
              {words.rotated}
            </span>
          )
        }
      >
        <PasswordField
          label={words.value}
          help={words.valueHelp}
          name="value"
          autoComplete="off"
          error={fieldErrors(rotate.error).value}
          required
        />
      </SubmitForm>
      <footer className="panel-end">
        <Refusal error={remove.error} />
        <Confirm
          label={words.remove}
          question={words.removeAsk(name)}
          isBusy={remove.isPending}
          onConfirm={() =>
            remove.mutate(undefined, { onSuccess: () => void navigate({ to: listed, params: place }) })
          }
        />
      </footer>
    </section>
  )
}
