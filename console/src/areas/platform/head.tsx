import type { ReactNode } from 'react'
import type { ShownRequest } from '../../api/curl.js'
import { PageHead, SubPages } from '../../patterns/page.js'
import { Empty } from '../../patterns/problem.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'

const words = texts.platform
const pages = [
  ['status', '/w/$workspace/$environment/platform/status'],
  ['deadLetters', '/w/$workspace/$environment/platform/dead-letters'],
] as const

/** Frame of the pages about the installation; only operators can see them. */
export function PlatformFrame({ request, children }: { request: ShownRequest; children: ReactNode }) {
  const { place, me } = usePlace()
  if (!me.operator) return <Empty title={words.operatorsOnly} help={words.operatorsOnlyHelp} />
  return (
    <>
      <PageHead title={words.title} request={request} />
      <SubPages
        label={words.title}
        pages={pages.map(([name, to]) => ({ label: words.tabs[name], to, params: place }))}
      />
      {children}
    </>
  )
}
