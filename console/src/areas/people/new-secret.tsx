import { useNavigate } from '@tanstack/react-router'
import { createApi } from '../../api/api.js'
import { fieldErrors } from '../../api/failure.js'
import { useDraft } from '../../patterns/draft.js'
import { DetailHead } from '../../patterns/page.js'
import { usePlace } from '../../place/context.js'
import { Field, PasswordField } from '../../proof/fields.js'
import { texts } from '../../texts/en.js'
import { Lines, SubmitForm, splitLines, useChange } from './form.js'

const words = texts.people.secrets

/** Stores a secret. Its value is never saved in a draft. */
export function NewSecret() {
  const { place } = usePlace()
  const navigate = useNavigate()
  const [draft, change, clear] = useDraft('secret', { name: '', hosts: '' })
  const create = useChange((value: string) =>
    createApi(place).post('/secrets', { body: { name: draft.name, value, hosts: splitLines(draft.hosts) } }),
  )
  const wrong = fieldErrors(create.error)
  const submit = (form: HTMLFormElement) =>
    create.mutate(String(new FormData(form).get('value')), {
      onSuccess: ({ data: { name } }) => {
        clear()
        void navigate({
          to: '/w/$workspace/$environment/people/secrets/$secretName',
          params: { ...place, secretName: name },
        })
      },
    })
  return (
    <>
      <DetailHead
        title={words.createTitle}
        closed={{ to: '/w/$workspace/$environment/people/secrets', params: place }}
      />
      <div className="detail-body panel">
        <SubmitForm label={words.create} change={create} onSubmit={submit}>
          <Field
            label={texts.people.name}
            help={words.nameHelp}
            name="name"
            value={draft.name}
            error={wrong.name}
            autoComplete="off"
            maxLength={100}
            required
            autoFocus
            onChange={({ currentTarget: { value } }) => change({ name: value })}
          />
          <PasswordField
            label={words.value}
            help={words.valueHelp}
            name="value"
            autoComplete="off"
            error={wrong.value}
            required
          />
          <Lines
            label={words.hosts}
            help={words.hostsHelp}
            value={draft.hosts}
            error={findFirstError(wrong, 'hosts')}
            onChange={(hosts) => change({ hosts })}
          />
        </SubmitForm>
      </div>
    </>
  )
}

/** The first error of a field or of one of its values. */
export const findFirstError = (wrong: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.entries(wrong).find(([path]) => path === name || path.startsWith(`${name}.`))?.[1]
