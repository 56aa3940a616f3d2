import type { AppDefinition } from '@opsplane/contracts'
import { useEffect, useMemo, useRef } from 'react'
import { type AppApi, needsLogin } from '../api.js'
import type { ActionHost } from '../page/actions.js'
import type { Drafts } from '../page/drafts.js'
import { PageStore } from '../page/store.js'
import { ComponentView } from './component.js'
import { PageProvider } from './context.js'
import { useUnsaved } from './leaving.js'

interface PageProps {
  page: AppDefinition['pages'][number]
  params: Readonly<Record<string, string>>
  user: AppDefinition['user']
  api: Pick<AppApi, 'data'>
  host: ActionHost
  drafts: Drafts
  /** Name of the draft: the page and its user. */
  draftName: string
  /** Called when the session has ended. */
  onLeave(): void
  /** Called with the number of the deployment that answered. */
  onAnswer(deployment: number): void
  /** Whether the page was navigated to, instead of being the first one. */
  takesFocus: boolean
}

/** A page with its own state. Typed input is kept until it is saved or the page is left. */
export function PageView(props: PageProps) {
  const { page, params, user, api, host, drafts, draftName, onLeave, onAnswer, takesFocus } = props
  const heading = useRef<HTMLHeadingElement>(null)
  const store = useMemo(() => {
    const load: ConstructorParameters<typeof PageStore>[0]['load'] = async (requests) => {
      try {
        const { results, deployment } = await api.data(requests)
        onAnswer(deployment)
        return results
      } catch (error) {
        if (needsLogin(error)) onLeave()
        throw error
      }
    }
    return new PageStore({
      ...{ page: { ...page, params }, user, load, draft: drafts.page(draftName) },
      keep: (draft) => drafts.keep(draftName, draft),
    })
  }, [page, params, user, api, drafts, draftName, onLeave, onAnswer])
  useEffect(() => void store.start(), [store])
  useUnsaved(store)
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
