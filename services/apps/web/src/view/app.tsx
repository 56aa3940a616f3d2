import type { AppDefinition } from '@opsplane/contracts'
import { useCallback, useEffect, useState } from 'react'
import { ApiFailure, type AppApi, needsLogin } from '../api.js'
import { toMessage } from '../expression/evaluate.js'
import type { Drafts } from '../page/drafts.js'
import type { Session } from '../session.js'
import { LoginForm } from './login.js'
import { RunningApp } from './running-app.js'

type State =
  | { kind: 'loading' }
  | { kind: 'login'; isBack?: boolean }
  | { kind: 'running'; definition: AppDefinition }
  | { kind: 'failed'; title: string; message: string }

/** Root component: loads the app at the current address, or shows the login first. */
export function App({ api, session, drafts }: { api: AppApi; session: Session; drafts: Drafts }) {
  const [state, setState] = useState<State>({
    kind: session.token() || session.isEmbedded ? 'loading' : 'login',
  })
  const load = useCallback(async () => {
    setState({ kind: 'loading' })
    setState(await loaded(api, session))
  }, [api, session])
  useEffect(() => {
    if (session.token() || session.isEmbedded) void load()
  }, [session, load])
  /** The session ended without a logout. */
  const leave = useCallback(() => {
    session.leave()
    setState(session.isEmbedded ? endedEmbed : { kind: 'login', isBack: true })
  }, [session])
  const logOut = useCallback(() => {
    // Log out locally whatever the platform answers.
    api.logOut().catch(() => {})
    session.leave()
    setState({ kind: 'login' })
  }, [api, session])
  /** Updates in place, so that no typed input is lost. */
  const reload = useCallback(async () => {
    const next = await loaded(api, session)
    if (next.kind === 'running') setState(next)
  }, [api, session])

  switch (state.kind) {
    case 'loading':
      return (
        <main className="narrow">
          <p className="muted" role="status">
            Loading…
          </p>
        </main>
      )
    case 'login':
      return (
        <LoginForm
          isBack={state.isBack ?? false}
          onLogin={async (email, password) => {
            session.enter(await api.logIn(email, password))
            await load()
          }}
        />
      )
    case 'running':
      return (
        <RunningApp
          {...{ definition: state.definition, api, drafts, isEmbedded: session.isEmbedded }}
          onLeave={leave}
          onRedeployed={reload}
          onLogout={logOut}
        />
      )
    case 'failed':
      return (
        <main className="narrow">
          <div className="card">
            <h1>{state.title}</h1>
            <p>{state.message}</p>
            <div className="stack row">
              <button type="button" className="primary" onClick={() => void load()}>
                Try again
              </button>
              {!session.isEmbedded && (
                <button type="button" className="secondary" onClick={logOut}>
                  Log in as another user
                </button>
              )}
            </div>
          </div>
        </main>
      )
  }
}

const endedEmbed: State = {
  kind: 'failed',
  title: 'This is no longer shared',
  message:
    'What this page was shared with has ended or was revoked. Ask the owner of the embedding page for a new one.',
}

async function loaded(api: AppApi, session: Session): Promise<State> {
  try {
    return { kind: 'running', definition: await api.definition() }
  } catch (error) {
    if (needsLogin(error)) {
      session.leave()
      return session.isEmbedded ? endedEmbed : { kind: 'login' }
    }
    const code = error instanceof ApiFailure ? error.code : ''
    return { kind: 'failed', title: titles[code] ?? 'The app could not be loaded', message: toMessage(error) }
  }
}

const titles: Readonly<Record<string, string>> = {
  not_found: 'There is no such app',
  insufficient_scope: 'You may not use this app',
  workspace_forbidden: 'You may not use this app',
  environment_forbidden: 'You may not use this app here',
  unreachable: 'The platform cannot be reached',
}
