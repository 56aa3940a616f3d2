import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ShownRequest } from '../../api/curl.js'
import { PageHead } from '../../patterns/page.js'
import { Empty } from '../../patterns/problem.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'

const words = texts.platform
const pages = [
  ['status', '/w/$workspace/$environment/platform/status'],
  ['deadLetters', '/w/$workspace/$environment/platform/dead-letters'],
] as const

/** Around the pages of the installation, for those alone who operate it. */
export function PlatformFrame({ request, children }: { request: ShownRequest; children: ReactNode }) {
  const { place, me } = usePlace()
  if (!me.operator) return <Empty title={words.operatorsOnly} help={words.operatorsOnlyHelp} />
  return (
    <>
      <PageHead title={words.title} request={request} />
      <nav className="pages" aria-label={words.title}>
        {pages.map(([name, to]) => (
          <Link
            key={name}
            to={to}
            params={place}
            className="page-link"
            activeProps={{ className: 'page-link page-link-active' }}
          >
            {words.tabs[name]}
          </Link>
        ))}
      </nav>
      {children}
    </>
  )
}
