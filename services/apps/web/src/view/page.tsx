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
  /** Of the drafts: the page, and whose it is. */
  draftName: string
  /** The session is over. */
  onLeave(): void
  /** Called with the deployment that has answered. */
  onAnswer(deployment: number): void
  /** Whether it was gone to, instead of being the first. */
  takesFocus: boolean
}

/** A page with a state of its own, of which what was typed stays until it is saved or left. */
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
