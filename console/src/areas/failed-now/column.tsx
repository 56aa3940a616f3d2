import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Problem } from '../../patterns/problem.js'
import { Time, useNow } from '../../patterns/time.js'
import { texts } from '../../texts/en.js'
import { type FailureGroup, type FailureReading, groupFailures, spreadOf } from './groups.js'

const words = texts.failed
const parts = 24

interface ColumnProps<Item> {
  title: string
  /** What it means that there is none. */
  none: string
  result: { data: { items: readonly Item[]; hasMore: boolean } | undefined; error: unknown; reload(): void }
  reading: FailureReading<Item>
  linkOf(item: Item): LinkProps
  /** What else is to be known of the target. */
  noteOf?(item: Item): ReactNode
  /** What can be done about all of a group. */
  actionOf?(items: readonly Item[]): ReactNode
}

/** Failures of one kind. What cannot be read says so by itself: the others stand. */
export function FailureColumn<Item>({ title, none, result, reading, ...group }: ColumnProps<Item>) {
  const { data, error, reload } = result
  const groups = groupFailures(data?.items ?? [], reading)
  return (
    <section className="failed-column" aria-label={title}>
      <header className="failed-head">
        <h2>{title}</h2>
        {data !== undefined && data.items.length > 0 && (
          <span className="failed-count">{words.countOf(data.items.length, data.hasMore)}</span>
        )}
      </header>
      {error && data === undefined ? (
        <Problem error={error} onRetry={reload} />
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
            <Group
              key={JSON.stringify([each.cause, each.target])}
              group={each}
              atOf={reading.atOf}
              {...group}
            />
          ))}
        </ul>
      )}
    </section>
  )
}

interface GroupProps<Item> extends Pick<ColumnProps<Item>, 'linkOf' | 'noteOf' | 'actionOf'> {
  group: FailureGroup<Item>
  atOf(item: Item): string
}

function Group<Item>({ group, atOf, linkOf, noteOf, actionOf }: GroupProps<Item>) {
  const { cause, target, items, firstAt, lastAt } = group
  const [latest] = items
  if (latest === undefined) return null
  const note = noteOf?.(latest)
  return (
    <li className="failed-group">
      <div className="failed-line">
        <Link {...linkOf(latest)} className="row-link failed-cause" title={cause} dir="auto">
          {cause}
        </Link>
        <span className="failed-number">{items.length}</span>
      </div>
      <div className="failed-line muted">
        <span className="ellipsis" dir="auto">
          {target}
        </span>
        {note}
      </div>
      <Spread instants={items.map(atOf)} firstAt={firstAt} />
      <div className="failed-line failed-foot small muted">
        <span className="ellipsis">
          {words.last} <Time at={lastAt} />
          {items.length > 1 && (
            <>
              , {words.first} <Time at={firstAt} />
            </>
          )}
        </span>
        <span className="grow" />
        {actionOf?.(items)}
      </div>
    </li>
  )
}

/** When they failed, from the first one to now. */
function Spread({ instants, firstAt }: { instants: readonly string[]; firstAt: string }) {
  const now = useNow()
  const counts = spreadOf(instants, Date.parse(firstAt), now, parts)
  const most = Math.max(...counts)
  return (
    <span className="spread" role="img" aria-label={words.spread}>
      {counts.map((count, index) => (
        <i
          key={index}
          data-none={count === 0 || undefined}
          style={{ height: count === 0 ? 2 : 4 + (count / most) * 16 }}
        />
      ))}
    </span>
  )
}
