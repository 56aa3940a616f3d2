import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { createApi } from '../../api/api.js'
import { fieldErrors } from '../../api/failure.js'
import { PasswordField } from '../../proof/fields.js'
import { Refusal } from '../../proof/refusal.js'
import { texts } from '../../texts/en.js'
import { Section } from './frame.js'
import { sessionsQuery } from './queries.js'

const words = texts.account

export function Password() {
  const queries = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  const change = useMutation({
    mutationFn: (body: { currentPassword: string; newPassword: string }) =>
      createApi().post('/auth/password/change', { body }),
    onSuccess: () => {
      setOpen(false)
      return queries.invalidateQueries({ queryKey: sessionsQuery.queryKey })
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const formData = new FormData(event.currentTarget)
    change.mutate({
      currentPassword: String(formData.get('currentPassword')),
      newPassword: String(formData.get('newPassword')),
    })
  }
  const wrong = fieldErrors(change.error)
  if (!isOpen)
    return (
      <Section title={words.password} help={words.passwordHelp}>
        <span className="row wrap">
          <Button size="xs" variant="default" onClick={() => setOpen(true)}>
            {words.change}
          </Button>
          {change.isSuccess && (
            <span className="state-good" role="status">
              {words.changed}
            </span>
          )}
        </span>
      </Section>
    )
  return (
    <Section title={words.password} help={words.passwordHelp}>
      <form className="steps setting-form" onSubmit={submit}>
        <PasswordField
          label={words.present}
          name="currentPassword"
          autoComplete="current-password"
          error={wrong.currentPassword}
          required
        />
        <PasswordField
          label={words.next}
          help={texts.signIn.reset.rule}
          name="newPassword"
          autoComplete="new-password"
          minLength={12}
          maxLength={256}
          error={wrong.newPassword}
          required
        />
        <Refusal error={change.error} words={{ invalid_credentials: texts.proof.wrongPassword }} />
        <span className="row">
          <Button type="submit" size="xs" loading={change.isPending}>
            {words.change}
          </Button>
          <Button size="xs" variant="subtle" color="gray" onClick={() => setOpen(false)}>
            {texts.common.cancel}
          </Button>
        </span>
      </form>
    </Section>
  )
}
