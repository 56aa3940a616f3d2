import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { FailureGroup } from '../../api/api.js'
import { Problem } from '../../patterns/problem.js'
import { Time, useNow } from '../../patterns/time.js'
import { texts } from '../../texts/en.js'
import { causeOf, spanOf, totalOf } from './groups.js'

const words = texts.failed

interface ColumnProps {
  title: string
  /** What it means that there is none. */
  none: string
  result: {
    data: { groups: readonly FailureGroup[]; hasMore: boolean } | undefined
    error: unknown
    refetch(): Promise<unknown>
  }
  linkOf(group: FailureGroup): LinkProps
  /** What else is to be known of the target. */
  noteOf?(group: FailureGroup): ReactNode
  /** What can be done about all of a group. */
  actionOf?(group: FailureGroup): ReactNode
}

/** Failures of one kind. What cannot be read says so by itself: the others stand. */
export function FailureColumn({ title, none, result, ...group }: ColumnProps) {
  const { data, error, refetch } = result
  const groups = data?.groups ?? []
  const { count, isMore } = totalOf(groups, data?.hasMore ?? false)
  return (
    <section className="failed-column" aria-label={title}>
      <header className="failed-head">
        <h2>{title}</h2>
        {count > 0 && <span className="failed-count">{words.countOf(count, isMore)}</span>}
      </header>
      {error && data === undefined ? (
        <Problem error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <div className="skeleton" aria-busy="true">
          {[0, 1, 2].map((row) => (
            <div key={row} className="skeleton-block" />
          ))}
        </div>
      ) : groups.length === 0 ? (
        <p className="failed-none">
          <span className="state-good" aria-hidden="true">
            <svg
              width="14"
              height="14"
              viewBox="0 0 14 14"
              fill="none"
              stroke="currentColor"
              strokeWidth="1.8"
              aria-hidden="true"
            >
              <path d="m2.5 7.5 3 3 6-6.5" />
            </svg>
          </span>
          {none}
        </p>
      ) : (
        <ul>
          {groups.map((each) => (
            <Group key={each.id} group={each} {...group} />
          ))}
        </ul>
      )}
    </section>
  )
}

interface GroupProps extends Pick<ColumnProps, 'linkOf' | 'noteOf' | 'actionOf'> {
  group: FailureGroup
}

function Group({ group, linkOf, noteOf, actionOf }: GroupProps) {
  const { cause, target, count, isMore, firstAt, lastAt } = group
  return (
    <li className="failed-group">
      <div className="failed-line">
        <Link {...linkOf(group)} className="row-link failed-cause" title={cause.message} dir="auto">
          {causeOf(cause)}
        </Link>
        <span className="failed-number">{words.countOf(count, isMore)}</span>
      </div>
      <div className="failed-line muted">
        <span className="ellipsis" dir="auto">
          {target.name}
        </span>
        {noteOf?.(group)}
      </div>
      <Span group={group} />
      <div className="failed-line failed-foot small muted">
        <span className="ellipsis">
          {words.last} <Time at={lastAt} />
          {count > 1 && (
            <>
              , {words.first} <Time at={firstAt} />
            </>
          )}
        </span>
        <span className="grow" />
        {actionOf?.(group)}
      </div>
    </li>
  )
}

/** From the first failure to the last, on the way to now. */
function Span({ group }: { group: FailureGroup }) {
  const { untilPercent } = spanOf(group, useNow())
  return (
    <span className="span" role="img" aria-label={words.span}>
      <i style={{ width: `${untilPercent}%` }} />
    </span>
  )
}
