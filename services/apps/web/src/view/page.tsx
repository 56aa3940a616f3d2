import type { AppDefinition } from '@opsplane/contracts'
import { useEffect, useMemo, useRef } from 'react'
import { ApiFailure, type AppApi, needsLogin } from '../api.js'
import type { ActionHost } from '../page/actions.js'
import { PageStore } from '../page/store.js'
import { ComponentView } from './component.js'
import { PageProvider } from './context.js'

interface PageProps {
  page: AppDefinition['pages'][number]
  params: Readonly<Record<string, string>>
  user: AppDefinition['user']
  api: Pick<AppApi, 'data'>
  host: ActionHost
  /** The session is over. */
  onLeave(): void
  /** Whether it was gone to, instead of being the first. */
  takesFocus: boolean
}

/** A page with a state of its own; a new one when it is left and come back to. */
export function PageView({ page, params, user, api, host, onLeave, takesFocus }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  const store = useMemo(() => {
    const load: AppApi['data'] = (requests) =>
      api.data(requests).catch((error: unknown) => {
        if (error instanceof ApiFailure && needsLogin(error)) onLeave()
        throw error
      })
    return new PageStore({ page: { ...page, params }, user, load })
  }, [page, params, user, api, onLeave])
  useEffect(() => void store.start(), [store])
  useEffect(() => {
    if (takesFocus) heading.current?.focus()
  }, [takesFocus])
  return (
    <PageProvider value={{ store, host }}>
      <h1 ref={heading} tabIndex={-1}>
        {page.title}
      </h1>
      <div className="stack column">
        {page.components.map((component, index) => (
          <ComponentView key={index} component={component} />
        ))}
      </div>
    </PageProvider>
  )
}
