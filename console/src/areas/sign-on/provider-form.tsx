import { useQuery } from '@tanstack/react-query'
import type { IdentityProvider } from '../../api/api.js'
import { fieldErrors } from '../../api/failure.js'
import { useDraft } from '../../patterns/draft.js'
import { usePlace } from '../../place/context.js'
import { Field, PasswordField } from '../../proof/fields.js'
import { texts } from '../../texts/en.js'
import { Choice, Lines, SubmitForm, splitLines, Tick } from '../people/form.js'
import { findFirstError } from '../people/new-secret.js'
import { rolesQuery } from '../people/queries.js'
import { mappingText, parseMapping } from './mapping.js'

const words = texts.people.signOn.fields

export type ProviderBody = Pick<
  IdentityProvider,
  'name' | 'issuer' | 'clientId' | 'domains' | 'defaultRole' | 'roleClaim' | 'roles' | 'enabled' | 'required'
> & { clientSecret: string }

const draftOf = (provider: IdentityProvider | undefined) => ({
  name: provider?.name ?? '',
  issuer: provider?.issuer ?? '',
  clientId: provider?.clientId ?? '',
  domains: (provider?.domains ?? []).join('\n'),
  defaultRole: provider?.defaultRole ?? '',
  roleClaim: provider?.roleClaim ?? '',
  roles: mappingText(provider?.roles ?? []),
  enabled: provider?.enabled ?? true,
  required: provider?.required ?? false,
})

interface ProviderFormProps {
  /** `undefined` for a new provider. */
  provider: IdentityProvider | undefined
  label: string
  change: { error: unknown; isPending: boolean }
  isFixed?: boolean
  onSave(body: ProviderBody, clear: () => void): void
}

/** Settings of an identity provider. Its secret is never saved in a draft. */
export function ProviderForm({ provider, label, change, isFixed = false, onSave }: ProviderFormProps) {
  const { place, may } = usePlace()
  const { data: roles = [] } = useQuery({ ...rolesQuery(place), enabled: may('roles:read') })
  const [draft, set, clear] = useDraft('provider', draftOf(provider))
  const wrong = fieldErrors(change.error)
  const mapped = parseMapping(splitLines(draft.roles))
  const text = (name: 'name' | 'issuer' | 'clientId' | 'roleClaim') => ({
    name,
    value: draft[name],
    error: wrong[name],
    autoComplete: 'off',
    onChange: ({ currentTarget }: { currentTarget: HTMLInputElement }) =>
      set({ [name]: currentTarget.value }),
  })
  const submit = (form: HTMLFormElement) => {
    if (mapped === undefined) return
    const { defaultRole, roleClaim, domains, ...rest } = draft
    const clientSecret = String(new FormData(form).get('clientSecret'))
    const body = {
      ...rest,
      domains: splitLines(domains),
      roles: mapped,
      defaultRole: defaultRole === '' ? null : defaultRole,
      roleClaim: roleClaim.trim() === '' ? null : roleClaim.trim(),
      clientSecret,
    }
    onSave(body, clear)
  }
  return (
    <fieldset className="plain" disabled={isFixed}>
      <SubmitForm label={label} change={change} onSubmit={submit}>
        <Field label={texts.people.name} {...text('name')} maxLength={100} required />
        <Field
          label={words.issuer}
          help={words.issuerHelp}
          {...text('issuer')}
          type="url"
          readOnly={provider !== undefined}
          required
        />
        <Field label={words.clientId} {...text('clientId')} required />
        <PasswordField
          label={words.clientSecret}
          name="clientSecret"
          autoComplete="off"
          {...(provider === undefined ? { required: true } : { help: words.secretKept })}
          error={wrong.clientSecret}
        />
        <Lines
          label={words.domains}
          help={words.domainsHelp}
          value={draft.domains}
          error={findFirstError(wrong, 'domains')}
          onChange={(domains) => set({ domains })}
        />
        <Choice
          label={words.defaultRole}
          value={draft.defaultRole}
          error={wrong.defaultRole}
          options={[
            ['', words.noRole],
            ...roles.filter(({ name }) => name !== 'owner').map(({ name }) => [name, name] as const),
          ]}
          onChange={(defaultRole) => set({ defaultRole })}
        />
        <Field label={words.roleClaim} help={words.roleClaimHelp} {...text('roleClaim')} />
        {draft.roleClaim !== '' && (
          <Lines
            label={words.mapping}
            help={words.mappingHelp}
            value={draft.roles}
            error={mapped === undefined ? words.mappingWrong : findFirstError(wrong, 'roles')}
            onChange={(mapping) => set({ roles: mapping })}
          />
        )}
        <Tick label={words.enabled} isOn={draft.enabled} onTurn={(enabled) => set({ enabled })} />
        <Tick
          label={words.required}
          help={words.requiredHelp}
          isOn={draft.required}
          onTurn={(required) => set({ required })}
        />
      </SubmitForm>
    </fieldset>
  )
}
