import type { AppActionRequest, AppDefinition } from '@opsplane/contracts'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { type AppApi, needsLogin } from '../api.js'
import type { ActionHost } from '../page/actions.js'
import { addressOf, type Place, placeOf } from '../place.js'
import { ConfirmDialog, type Question } from './confirm.js'
import { Navigation } from './navigation.js'
import { PageView } from './page.js'

interface RunningAppProps {
  definition: AppDefinition
  api: AppApi
  /** The session is over. */
  onLeave: () => void
  onLogout: () => void
  isEmbedded: boolean
}

/** An app once it is loaded: its pages, one of them shown. */
export function RunningApp({ definition, api, onLeave, onLogout, isEmbedded }: RunningAppProps) {
  const { place, goTo, isFirst } = usePlace()
  const [message, setMessage] = useState('')
  const [question, setQuestion] = useState<Question>()
  const { app, pages, user } = definition
  const page = pages.find(({ slug }) => slug === (place.page ?? pages[0]?.slug))
  const host = useMemo(
    (): ActionHost => ({
      goTo: (slug, params) => goTo({ page: slug, params }),
      announce: setMessage,
      confirm: (text) =>
        new Promise((resolve) => {
          const answer = (agreed: boolean) => {
            setQuestion(undefined)
            resolve(agreed)
          }
          setQuestion({ text, answer })
        }),
      act: (request: AppActionRequest) =>
        api.act(request).catch((error: unknown) => {
          if (needsLogin(error)) onLeave()
          throw error
        }),
    }),
    [api, goTo, onLeave],
  )
  useEffect(() => {
    document.title = page ? `${page.title} – ${app.name}` : app.name
  }, [page, app.name])
  return (
    <>
      <Navigation
        {...{ app, pages, place, user, current: page?.slug }}
        goTo={(to) => {
          setMessage('')
          goTo(to)
        }}
        onLogout={isEmbedded ? undefined : onLogout}
      />
      <main id="content">
        <p className={message ? 'message' : ''} role="status">
          {message}
        </p>
        {page ? (
          <PageView
            key={addressOf(place)}
            {...{ page, params: place.params, user, api, host, onLeave, takesFocus: !isFirst }}
          />
        ) : (
          <h1>{pages.length === 0 ? 'This app has no pages.' : 'This app has no such page.'}</h1>
        )}
      </main>
      <ConfirmDialog question={question} />
    </>
  )
}

/** Where the browser is, which its buttons change as well. */
function usePlace() {
  const [place, setPlace] = useState(() => placeOf(location))
  const visits = useRef(0)
  useEffect(() => {
    const follow = () => {
      visits.current += 1
      setPlace(placeOf(location))
    }
    addEventListener('popstate', follow)
    return () => removeEventListener('popstate', follow)
  }, [])
  const goTo = useCallback((to: Pick<Place, 'page' | 'params'>) => {
    visits.current += 1
    history.pushState(null, '', addressOf({ ...placeOf(location), ...to }))
    setPlace(placeOf(location))
    scrollTo(0, 0)
  }, [])
  return { place, goTo, isFirst: visits.current === 0 }
}
