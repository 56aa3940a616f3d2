import { Link, type LinkProps, Outlet } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ShownRequest } from '../api/curl.js'
import { LiveMark } from '../live/live-mark.js'
import { texts } from '../texts/en.js'
import { AsCurl } from './curl.js'
import { Icon } from './icons.js'
import { Empty, Problem } from './problem.js'
import { Stale } from './stale.js'

interface PageHeadProps {
  title: string
  figures?: ReactNode
  request: ShownRequest
  children?: ReactNode
}

/** Head of a page: title, figures and actions. */
export function PageHead({ title, figures, request, children }: PageHeadProps) {
  return (
    <header className="page-head">
      <h1 className="ellipsis">{title}</h1>
      {figures !== undefined && <span className="muted ellipsis">{figures}</span>}
      <span className="grow" />
      <LiveMark />
      {children}
      <AsCurl request={request} />
    </header>
  )
}

interface SubPagesProps {
  label: string
  pages: readonly (LinkProps & { label: string })[]
}

/** Links to the pages of an area, below its title. */
export function SubPages({ label, pages }: SubPagesProps) {
  return (
    <nav className="pages" aria-label={label}>
      {pages.map(({ label: page, ...link }) => (
        <Link
          key={page}
          {...link}
          className="page-link"
          activeProps={{ className: 'page-link page-link-active' }}
        >
          {page}
        </Link>
      ))}
    </nav>
  )
}

interface SplitProps {
  /** Whether a detail is open. */
  isOpen: boolean
  /** Placeholder if no detail is open and there is room for one. */
  hint: string
  children: ReactNode
}

/** A list and the detail of its selected row: side by side if there is room, otherwise only one of them. */
export function Split({ isOpen, hint, children }: SplitProps) {
  return (
    <div className="split" data-open={isOpen || undefined}>
      <section className="split-list">{children}</section>
      <section className="split-detail" aria-live="off">
        {isOpen ? <Outlet /> : <p className="split-hint muted">{hint}</p>}
      </section>
    </div>
  )
}

interface DetailHeadProps {
  title: ReactNode
  /** Address to open when the detail is closed. */
  closed: LinkProps
  children?: ReactNode
}

export function DetailHead({ title, closed, children }: DetailHeadProps) {
  return (
    <header className="detail-head">
      <Link {...closed} className="detail-close" aria-label={texts.common.close} title={texts.common.close}>
        <Icon name="close" />
      </Link>
      {/* A new title gets a new element: right-to-left text then does not move existing text. */}
      <h2 key={typeof title === 'string' ? title : undefined} className="detail-title ellipsis" dir="auto">
        {title}
      </h2>
      <span className="grow" />
      {children}
    </header>
  )
}

/** Names and values. Entries without a value are omitted. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  const present = facts.filter(([, value]) => value !== undefined && value !== null && value !== '')
  return (
    <dl className="facts">
      {present.map(([name, value]) => (
        <div key={name} className="fact">
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

interface DetailBodyProps<Data> {
  /** `data` is `null` if the object does not exist. */
  query: {
    data: Data | null | undefined
    error: unknown
    dataUpdatedAt?: number
    refetch(): Promise<unknown>
  }
  children(data: Data): ReactNode
}

/** Content of a detail below its head: the loaded data, an error, or a skeleton while loading. */
export function DetailBody<Data>({ query, children }: DetailBodyProps<Data>) {
  const { data, error, dataUpdatedAt, refetch } = query
  return (
    <div className="detail-body">
      {data === null ? (
        <Empty title={texts.problem.missing} help={texts.problem.missingHelp} />
      ) : data !== undefined ? (
        children(data)
      ) : error ? (
        <Problem error={error} onRetry={() => void refetch()} />
      ) : (
        <DetailSkeleton />
      )}
      {data && error && dataUpdatedAt ? (
        <Stale sinceMs={dataUpdatedAt} className="list-stale detail-stale small" />
      ) : null}
    </div>
  )
}

/** Placeholder while a detail is loading, shown after a short delay. */
export function DetailSkeleton() {
  return (
    <div
      className="skeleton detail-skeleton"
      aria-busy="true"
      role="status"
      aria-label={texts.common.loading}
    >
      <div className="skeleton-row">
        <i />
      </div>
      <div className="skeleton-row">
        <i />
        <i />
      </div>
      <div className="skeleton-block" />
    </div>
  )
}
