import type { components } from '@opsplane/client'
import { type FormEvent, useEffect, useState } from 'react'
import { provingApi } from '../../api/api.js'
import { fieldErrors } from '../../api/failure.js'
import { ssoReturn } from '../../place/session.js'
import { Action, Field } from '../../proof/fields.js'
import { Refusal } from '../../proof/refusal.js'
import { texts } from '../../texts/en.js'

type Provider = components['schemas']['SsoChoices']['providers'][number]
const words = texts.signIn.sso

const providersOf = async (workspace: string): Promise<Provider[]> =>
  (await provingApi().get('/auth/sso', { params: { query: { workspace } } })).data.providers

/** The identity providers of the workspace to enter, or of a workspace that the person names. */
export function SingleSignOn({ workspace, to }: { workspace: string | undefined; to: string }) {
  const [providers, setProviders] = useState<Provider[]>([])
  const [isOpen, setOpen] = useState(false)
  const [none, setNone] = useState<string>()
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  useEffect(() => {
    // If the request fails, the person can still enter a workspace name.
    if (workspace !== undefined) void providersOf(workspace).then(setProviders, () => undefined)
  }, [workspace])
  const start = async (providerId: string) => {
    setBusy(true)
    setError(undefined)
    try {
      const body = { providerId, returnTo: ssoReturn(to) }
      location.assign((await provingApi().post('/auth/sso/start', { body })).data.location)
    } catch (failure) {
      setError(failure)
      setBusy(false)
    }
  }
  const find = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const name = String(new FormData(event.currentTarget).get('workspace')).trim()
    setError(undefined)
    setNone(undefined)
    try {
      const found = await providersOf(name)
      setProviders(found)
      if (found.length === 0) setNone(name)
    } catch (failure) {
      setError(failure)
    }
  }
  return (
    <>
      {providers.map(({ id, name }) => (
        <Action key={id} kind="plain" isBusy={isBusy} onClick={() => void start(id)}>
          {words.by(name)}
        </Action>
      ))}
      {providers.length === 0 && !isOpen && (
        <Action kind="plain" onClick={() => setOpen(true)}>
          {words.open}
        </Action>
      )}
      {providers.length === 0 && isOpen && (
        <form className="steps" onSubmit={find}>
          <Field
            label={words.workspace}
            help={words.workspaceHelp}
            name="workspace"
            defaultValue={workspace}
            error={fieldErrors(error).workspace}
            required
            autoComplete="organization"
            autoFocus
          />
          {none !== undefined && <p role="status">{words.none(none)}</p>}
          <Action kind="plain">{words.find}</Action>
        </form>
      )}
      <Refusal error={error} />
    </>
  )
}
