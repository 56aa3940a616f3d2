import { Button } from '@mantine/core'
import { type ApiKey, createApi } from '../../api/api.js'
import { fieldErrors } from '../../api/failure.js'
import { useDraft } from '../../patterns/draft.js'
import { Once } from '../../patterns/one-time-value.js'
import { DetailHead } from '../../patterns/page.js'
import { usePlace } from '../../place/context.js'
import { environments } from '../../place/place.js'
import { Field } from '../../proof/fields.js'
import { texts } from '../../texts/en.js'
import { SubmitForm, Tick, useChange } from './form.js'
import { RolePermissions } from './role-permissions.js'

const words = texts.people.keys
const initial = { name: '', scopes: [] as string[], environments: [...environments] as string[], expires: '' }

/** Creates an API key for the person; the key is shown once. */
export function NewKey() {
  const { place, me } = usePlace()
  const [draft, change, clear] = useDraft('key', initial)
  const create = useChange(() => {
    const isEverywhere = draft.environments.length === environments.length
    const body = {
      name: draft.name,
      scopes: draft.scopes as ApiKey['scopes'],
      ...(!isEverywhere && { environments: draft.environments as (typeof environments)[number][] }),
      ...(draft.expires !== '' && { expiresAt: new Date(draft.expires).toISOString() }),
    }
    return createApi(place).post('/auth/tokens', { body })
  })
  const wrong = fieldErrors(create.error)
  const made = create.data?.data
  const turn = (environment: string, isOn: boolean) =>
    change({
      environments: environments.filter((each) =>
        each === environment ? isOn : draft.environments.includes(each),
      ),
    })
  const all = me.permissions
  const presets = [
    [words.readOnly, all.filter((scope) => scope.endsWith(':read'))],
    [words.everything, all],
    [words.none, []],
  ] as const
  return (
    <>
      <DetailHead
        title={made ? words.made(made.name) : words.createTitle}
        closed={{ to: '/w/$workspace/$environment/people/keys', params: place, search: true }}
      />
      <div className="detail-body panel">
        {made?.token ? (
          <div role="status" className="panel-form">
            <p>{words.shown}</p>
            <Once text={made.token} label={texts.common.copy} />
          </div>
        ) : (
          <SubmitForm
            label={words.create}
            change={create}
            onSubmit={() => create.mutate(undefined, { onSuccess: clear })}
          >
            <Field
              label={texts.people.name}
              name="name"
              value={draft.name}
              error={wrong.name}
              maxLength={100}
              required
              autoFocus
              onChange={({ currentTarget: { value } }) => change({ name: value })}
            />
            <fieldset className="family">
              <legend>{words.environments}</legend>
              {environments.map((environment) => (
                <Tick
                  key={environment}
                  label={texts.environments[environment]}
                  isOn={draft.environments.includes(environment)}
                  onTurn={(isOn) => turn(environment, isOn)}
                />
              ))}
              {wrong.environments && <span className="small state-bad">{wrong.environments}</span>}
            </fieldset>
            <Field
              label={words.expiresAt}
              help={words.expiresHelp}
              name="expires"
              type="date"
              value={draft.expires}
              error={wrong.expiresAt}
              onChange={({ currentTarget: { value } }) => change({ expires: value })}
            />
            <div className="row wrap">
              <strong>{words.scopes}</strong>
              <span className="grow" />
              {presets.map(([label, scopes]) => (
                <Button
                  key={label}
                  size="xs"
                  variant="default"
                  onClick={() => change({ scopes: [...scopes] })}
                >
                  {label}
                </Button>
              ))}
            </div>
            <p className="small muted">{words.scopesHelp}</p>
            {wrong.scopes && <span className="small state-bad">{wrong.scopes}</span>}
            <RolePermissions all={all} allowed={draft.scopes} onChange={(scopes) => change({ scopes })} />
          </SubmitForm>
        )}
      </div>
    </>
  )
}
