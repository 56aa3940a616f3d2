import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Problem } from '../../patterns/problem.js'
import { Stale } from '../../patterns/stale.js'
import { Time } from '../../patterns/time.js'
import { texts } from '../../texts/en.js'
import { describeFailure, type FailureRow, sumGroups } from './groups.js'

const words = texts.failed

interface ColumnProps<Row> {
  title: string
  /** Describes this kind of failure. */
  about: ReactNode
  /** Formats a count with its unit. */
  unit(count: number, isMore: boolean): string
  /** Shown if there are no failures. */
  none: string
  result: {
    data: { groups: readonly Row[]; hasMore: boolean } | undefined
    error: unknown
    dataUpdatedAt: number
    refetch(): Promise<unknown>
  }
  /** Link to the list of a group's failures; without it a group is plain text. */
  linkOf?(group: Row): LinkProps
  /** Additional note about the target. */
  noteOf?(group: Row): ReactNode
  /** Action for a whole group, or the reason why there is none. */
  actionOf?: ((group: Row) => ReactNode) | undefined
}

/** Failures of one kind. If they cannot be read, only this column shows the error. */
export function FailureColumn<Row extends FailureRow>(props: ColumnProps<Row>) {
  const { title, about, none, result, ...group } = props
  const { data, error, dataUpdatedAt, refetch } = result
  const groups = data?.groups ?? []
  const { count, isMore } = sumGroups(groups, data?.hasMore ?? false)
  return (
    <section className="failed-column" aria-label={title}>
      <header className="failed-head">
        <span className="row failed-title">
          <h2>{title}</h2>
          {count > 0 && <span className="failed-count">{words.countOf(count, isMore)}</span>}
          <span className="grow" />
          {data && error ? <Stale sinceMs={dataUpdatedAt} className="state-warn small" /> : null}
        </span>
        <p className="small muted">{about}</p>
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

interface GroupProps<Row> extends Pick<ColumnProps<Row>, 'unit' | 'linkOf' | 'noteOf' | 'actionOf'> {
  group: Row
}

function Group<Row extends FailureRow>({ group, unit, linkOf, noteOf, actionOf }: GroupProps<Row>) {
  const { cause, target, count, isMore, firstAt, lastAt } = group
  const title = describeFailure(cause)
  const action = actionOf?.(group)
  return (
    <li className="failed-group">
      {linkOf === undefined ? (
        <span className="failed-cause" title={cause.message} dir="auto">
          {title}
        </span>
      ) : (
        <Link {...linkOf(group)} className="row-link failed-cause" title={cause.message} dir="auto">
          {title}
        </Link>
      )}
      <div className="failed-line">
        <span className="ellipsis" dir="auto" title={target.name}>
          {target.name}
        </span>
        {noteOf?.(group)}
      </div>
      <div className="small">
        <span className="failed-number">{unit(count, isMore)}</span>
        {lastAt !== undefined && (
          <span className="failed-times muted">
            <span className="nowrap">
              {words.last} <Time at={lastAt} />
              {count > 1 && firstAt !== undefined && ','}
            </span>{' '}
            {count > 1 && firstAt !== undefined && (
              <span className="nowrap">
                {words.first} <Time at={firstAt} />
              </span>
            )}
          </span>
        )}
      </div>
      {action && <div className="failed-action">{action}</div>}
    </li>
  )
}
