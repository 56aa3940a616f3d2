import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { OpsplaneError } from '@opsplane/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { apiOf } from '../../api/api.js'
import { fieldErrors } from '../../api/failure.js'
import { Problem } from '../../patterns/problem.js'
import { Mark } from '../../shell/mark.js'
import { texts } from '../../texts/en.js'

const route = getRouteApi('/sign-in')
const words = texts.signIn

/** By e-mail address and password; then on to where somebody wanted to go. */
export function SignIn() {
  const { to = '/', ended = false } = route.useSearch()
  const router = useRouter()
  const queries = useQueryClient()
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { email: '', password: '' },
    validate: { email: required, password: required },
  })
  const { mutate, isPending, error } = useMutation({
    mutationFn: (body: { email: string; password: string }) => apiOf().post('/auth/session', { body }),
    onSuccess: () => {
      // What another person has read here is not for this one.
      queries.clear()
      router.history.push(to)
    },
    onError: (failure) => form.setErrors(fieldErrors(failure)),
  })
  useEffect(() => {
    document.title = `${words.submit} · ${texts.product}`
  }, [])
  const isWrong = error instanceof OpsplaneError && error.code === 'invalid_credentials'
  const isAtField = Object.keys(fieldErrors(error)).length > 0
  return (
    <main className="sign-in">
      <form className="sign-in-form" onSubmit={form.onSubmit((values) => mutate(values))} noValidate>
        <Mark size={32} />
        <h1>{words.title}</h1>
        {ended && !error && <p className="muted">{words.ended}</p>}
        <TextInput
          label={words.email}
          type="email"
          size="sm"
          autoComplete="username"
          autoFocus
          {...form.getInputProps('email')}
          key={form.key('email')}
        />
        <PasswordInput
          label={words.password}
          size="sm"
          autoComplete="current-password"
          {...form.getInputProps('password')}
          key={form.key('password')}
        />
        {isWrong && (
          <p className="sign-in-wrong state-bad" role="alert">
            {words.wrong}
          </p>
        )}
        {error && !isWrong && !isAtField && <Problem error={error} />}
        <Button type="submit" size="sm" fullWidth loading={isPending}>
          {words.submit}
        </Button>
      </form>
    </main>
  )
}

const required = (value: string) => (value === '' ? words.required : null)
