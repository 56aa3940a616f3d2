import type { AppActionRequest, AppDefinition } from '@opsplane/contracts'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { type AppApi, isDefinite, isRedeployed, needsLogin } from '../api.js'
import type { ActionHost } from '../page/actions.js'
import type { Drafts } from '../page/drafts.js'
import { formatPlace, type Place } from '../place.js'
import { ConfirmDialog, type Question } from './confirm.js'
import { LeavingProvider, useLeaving } from './leaving.js'
import { Navigation } from './navigation.js'
import { PageView } from './page.js'
import { usePlace } from './place.js'

interface RunningAppProps {
  definition: AppDefinition
  api: AppApi
  drafts: Drafts
  /** Called when the session has ended. */
  onLeave: () => void
  onLogout: () => void
  /** Called when the app was deployed again. */
  onRedeployed: () => void
  isEmbedded: boolean
}

const unsaved = 'Leave without saving? What you have typed on this page will be lost.'

/** A loaded app: its navigation and the current page. */
export function RunningApp(props: RunningAppProps) {
  const { definition, api, drafts, onLeave, onLogout, onRedeployed, isEmbedded } = props
  const { app, pages, user } = definition
  const [message, setMessage] = useState('')
  const [question, confirm] = useQuestion()
  const leaveGuard = useLeaving()
  const mayLeave = useCallback(() => confirm(unsaved), [confirm])
  const nameOf = useCallback(
    (of: Place) => JSON.stringify([formatPlace({ ...of, embedId: undefined }), user?.id ?? null]),
    [user],
  )
  const onLeft = useCallback((from: Place) => drafts.drop(nameOf(from)), [drafts, nameOf])
  const { place, goTo, isFirst } = usePlace({ hasUnsaved: leaveGuard.hasUnsaved, mayLeave, onLeft })
  const page = pages.find(({ slug }) => slug === (place.page ?? pages[0]?.slug))
  const onAnswer = useCallback(
    (deployment: number) => {
      if (deployment > app.deployment) onRedeployed()
    },
    [app.deployment, onRedeployed],
  )
  const act = useCallback(
    async (request: AppActionRequest) => {
      // The same request from another page or user is a different request.
      const intent = JSON.stringify([location.pathname, user?.id ?? null, request])
      try {
        const value = await api.act({ ...request, deployment: app.deployment }, drafts.keyOf(intent))
        drafts.settle(intent)
        return value
      } catch (error) {
        if (isDefinite(error)) drafts.settle(intent)
        if (isRedeployed(error)) onRedeployed()
        if (needsLogin(error)) onLeave()
        throw error
      }
    },
    [api, app.deployment, drafts, user, onLeave, onRedeployed],
  )
  const host = useMemo(
    (): ActionHost => ({
      ...{ act, confirm, announce: setMessage },
      goTo: (slug, params) => void goTo({ page: slug, params }),
    }),
    [act, confirm, goTo],
  )
  useAnnouncedDeployment(app.deployment, setMessage)
  useEffect(() => {
    document.title = page ? `${page.title} – ${app.name}` : app.name
  }, [page, app.name])
  const logOut = async () => {
    if (leaveGuard.hasUnsaved() && !(await mayLeave())) return
    drafts.clear()
    onLogout()
  }
  return (
    <LeavingProvider value={leaveGuard}>
      <Navigation
        {...{ app, pages, place, user, current: page?.slug }}
        goTo={(to) => {
          setMessage('')
          void goTo(to)
        }}
        onLogout={isEmbedded ? undefined : () => void logOut()}
      />
      <main id="content">
        <p className={message ? 'message' : ''} role="status">
          {message}
        </p>
        {page ? (
          <PageView
            key={formatPlace(place)}
            {...{ page, params: place.params, user, api, host, drafts, onLeave, onAnswer }}
            draftName={nameOf(place)}
            takesFocus={!isFirst}
          />
        ) : (
          <h1>{pages.length === 0 ? 'This app has no pages.' : 'This app has no such page.'}</h1>
        )}
      </main>
      <ConfirmDialog question={question} />
    </LeavingProvider>
  )
}

/** State of a confirmation dialog: one question at a time, and a function that asks it. */
function useQuestion() {
  const [question, setQuestion] = useState<Question>()
  const confirm = useCallback(
    (text: string) =>
      new Promise<boolean>((resolve) => {
        const answer = (agreed: boolean) => {
          setQuestion(undefined)
          resolve(agreed)
        }
        setQuestion({ text, answer })
      }),
    [],
  )
  return [question, confirm] as const
}

/** Announces a redeployment to the user. */
function useAnnouncedDeployment(deployment: number, announce: (message: string) => void): void {
  const first = useRef(deployment)
  useEffect(() => {
    if (deployment === first.current) return
    first.current = deployment
    announce('This app has been updated. What you had typed is still here.')
  }, [deployment, announce])
}
