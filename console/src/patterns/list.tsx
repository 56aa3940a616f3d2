// biome-ignore-all lint/a11y/useSemanticElements: rows out of view are not rendered and visible rows are positioned absolutely, which table rows do not support.
// biome-ignore-all lint/a11y/useFocusableInteractive: the link of a row takes the focus.
import type { LinkProps } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, type ReactNode, useEffect, useLayoutEffect, useRef } from 'react'
import { texts } from '../texts/en.js'
import { type Column, cellClass, Row, rowPlace } from './list-row.js'
import { rowHeights, useNarrow } from './narrow.js'
import { Problem } from './problem.js'
import { Stale } from './stale.js'
import { Time } from './time.js'
import type { ListView } from './use-list.js'
import { useSelection } from './use-selection.js'

export type { Column } from './list-row.js'

/** Creation time, at the end of a row. */
export const whenColumn = (head: string): Column<{ createdAt: string }> => ({
  id: 'when',
  head,
  width: '88px',
  narrow: 'time',
  cell: ({ createdAt }) => (
    <span className="muted number">
      <Time at={createdAt} />
    </span>
  ),
})

interface ListProps<Item> {
  label: string
  view: ListView<Item>
  columns: readonly Column<Item>[]
  keyOf(item: Item): string
  /** Target of a row. */
  linkOf(item: Item): LinkProps
  /** Key of the row whose detail is open. */
  selected: string | undefined
  /** Address to open when the detail is closed. */
  closed: LinkProps
  empty: ReactNode
}

const headHeight = 32

/** A virtual list that loads rows while scrolling. Supports the keys j, k and Enter. */
export function List<Item>({
  label,
  view,
  columns,
  keyOf,
  linkOf,
  selected,
  closed,
  empty,
}: ListProps<Item>) {
  const scroll = useRef<HTMLDivElement>(null)
  const { isNarrow, observe } = useNarrow(scroll)
  const height = isNarrow ? rowHeights.narrow : rowHeights.wide
  const { items, hasMore } = view
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => height,
    // Renders enough rows to fill the view at the other row height, so that closing a detail creates no rows.
    overscan: isNarrow ? 12 : 6,
    scrollMargin: isNarrow ? 0 : headHeight,
    scrollPaddingStart: isNarrow ? 0 : headHeight,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the cached measurements are for the other row height.
  useLayoutEffect(() => virtual.measure(), [virtual, height])
  const rows = virtual.getVirtualItems()
  const [first, last] = [rows.at(0)?.index ?? 0, rows.at(-1)?.index ?? 0]
  // Runs after each render: the required pages depend on the known pages, not only on the visible rows.
  useEffect(() => view.show(first, last))
  const { shown, cursor, open } = useSelection({
    ...{ items, keyOf, linkOf, selected, closed },
    show: (index) => virtual.scrollToIndex(index),
  })

  if (view.isLoading) return <ListSkeleton label={label} />
  if (view.error !== undefined && items.length === 0)
    return <Problem error={view.error} onRetry={view.reload} />
  if (items.length === 0) return empty
  const startFresh = () => {
    view.showFresh()
    scroll.current?.scrollTo({ top: 0 })
  }
  return (
    <div ref={observe} className="list">
      {view.freshCount > 0 && (
        <button type="button" className="list-fresh" onClick={startFresh}>
          {texts.common.fresh(view.freshCount)}
        </button>
      )}
      <div ref={scroll} className="list-scroll" tabIndex={-1}>
        <div
          role="table"
          aria-label={label}
          aria-rowcount={hasMore ? -1 : items.length + 1}
          className={columns.some(({ narrow }) => narrow === 'state') ? undefined : 'list-stateless'}
          style={{ '--tracks': columns.map(({ width }) => width).join(' ') } as CSSProperties}
        >
          <div role="row" className="list-head">
            {columns.map((column) => (
              <div key={column.id} role="columnheader" className={`ellipsis ${cellClass(column)}`}>
                {column.head}
              </div>
            ))}
          </div>
          <div style={{ height: virtual.getTotalSize(), position: 'relative' }} role="rowgroup">
            {rows.map(({ index }) => {
              const item = items[index]
              if (item === undefined) return <AwaitedRow key={index} index={index} />
              const key = keyOf(item)
              return (
                <Row
                  key={key}
                  item={item}
                  index={index}
                  columns={columns}
                  isSelected={key === shown}
                  isMarked={key === cursor}
                  hasLeft={view.left.has(key)}
                  linkOf={linkOf}
                  onOpen={open}
                />
              )
            })}
          </div>
        </div>
        <p className="list-end small muted">{hasMore ? texts.common.loadMore : texts.common.end}</p>
      </div>
      {view.staleSinceMs !== undefined && <Stale sinceMs={view.staleSinceMs} />}
    </div>
  )
}

/** A known row whose page is not loaded, or was evicted. */
const AwaitedRow = ({ index }: { index: number }) => (
  <div role="row" aria-hidden="true" className="list-row skeleton-row" style={rowPlace(index)}>
    <i />
  </div>
)

const skeletonRows = Array.from({ length: 14 }, (_, index) => index)

/** Placeholder rows, shown after a short delay within which most lists load. */
function ListSkeleton({ label }: { label: string }) {
  return (
    <div
      className="skeleton list-skeleton"
      aria-busy="true"
      aria-label={`${texts.common.loading}: ${label}`}
      role="status"
    >
      {skeletonRows.map((row) => (
        <div key={row} className="skeleton-row">
          <i />
          <i />
          <i />
        </div>
      ))}
    </div>
  )
}
