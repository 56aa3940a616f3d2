import type { AppDefinition } from '@opsplane/contracts'
import type { MouseEvent } from 'react'
import { formatPlace, type Place } from '../place.js'

interface NavigationProps {
  app: AppDefinition['app']
  pages: AppDefinition['pages']
  /** Slug of the current page. */
  current: string | undefined
  place: Place
  goTo(to: Pick<Place, 'page' | 'params'>): void
  user: AppDefinition['user']
  onLogout: (() => void) | undefined
}

/** Name of the app, its pages and its user. The first focusable element skips the navigation. */
export function Navigation({ app, pages, current, place, goTo, user, onLogout }: NavigationProps) {
  const shown = pages.filter(({ inNavigation }) => inNavigation)
  const follow = (event: MouseEvent<HTMLAnchorElement>, page: string) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    goTo({ page, params: {} })
  }
  return (
    <header>
      <button
        type="button"
        className="skip"
        onClick={() => document.querySelector<HTMLElement>('#content h1')?.focus()}
      >
        Skip to the content
      </button>
      <div className="bar">
        <span className="app-name">{app.name}</span>
        {app.environment !== 'production' && <span className="badge">{app.environment}</span>}
        {onLogout && (
          <div className="person">
            <span>{user?.name || user?.email}</span>
            <button type="button" className="plain" onClick={onLogout}>
              Log out
            </button>
          </div>
        )}
      </div>
      {shown.length > 1 && (
        <nav aria-label="Pages">
          {shown.map(({ slug, title }) => (
            <a
              key={slug}
              href={formatPlace({ ...place, page: slug, params: {} })}
              aria-current={slug === current ? 'page' : undefined}
              onClick={(event) => follow(event, slug)}
            >
              {title}
            </a>
          ))}
        </nav>
      )}
    </header>
  )
}
