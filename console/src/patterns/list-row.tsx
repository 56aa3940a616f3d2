// biome-ignore-all lint/a11y/useSemanticElements: rows out of view are not rendered and visible rows are positioned absolutely, which table rows do not support.
// biome-ignore-all lint/a11y/useFocusableInteractive: the link of a row takes the focus.
import { Link, type LinkProps } from '@tanstack/react-router'
import { type CSSProperties, type MouseEvent, memo, type ReactNode } from 'react'

export interface Column<Item> {
  id: string
  head: string
  /** Track size of a CSS grid. */
  width: string
  /** Position in the two-line row of a narrow list; without it the column is hidden there. */
  narrow?: 'state' | 'title' | 'time' | 'meta'
  /** The word for a column that shows only an icon in a narrow list; shown as the tooltip of the row. */
  hintOf?(item: Item): string
  cell(item: Item): ReactNode
}

interface RowProps<Item> {
  item: Item
  index: number
  columns: readonly Column<Item>[]
  isSelected: boolean
  isMarked: boolean
  /** The row is no longer part of the list. */
  hasLeft: boolean
  linkOf(item: Item): LinkProps
  onOpen(item: Item): void
}

/** The style sheet decides the width, and therefore height and position: rows do not render again when a detail opens. */
export const rowPlace = (index: number) => ({ '--row': index }) as CSSProperties

export const cellClass = ({ id, narrow }: Pick<Column<never>, 'id' | 'narrow'>): string =>
  `cell-${id} narrow-${narrow ?? 'none'}`

function RowView<Item>({ item, index, columns, linkOf, onOpen, ...state }: RowProps<Item>) {
  const onClick = (event: MouseEvent) => {
    // With another button or a modifier key, the browser handles the click: a new tab, or a download.
    if (event.button !== 0 || event.metaKey || event.altKey || event.ctrlKey || event.shiftKey) return
    event.preventDefault()
    onOpen(item)
  }
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={state.isSelected}
      className="list-row"
      data-cursor={state.isMarked || undefined}
      data-left={state.hasLeft || undefined}
      title={columns.find(({ hintOf }) => hintOf)?.hintOf?.(item)}
      style={rowPlace(index)}
    >
      {columns.map((column) => (
        <div key={column.id} role="cell" className={`cell ${cellClass(column)}`}>
          {column.narrow === 'title' ? (
            <Link {...linkOf(item)} onClick={onClick} className="row-link ellipsis" dir="auto">
              {column.cell(item)}
            </Link>
          ) : (
            column.cell(item)
          )}
        </div>
      ))}
    </div>
  )
}

const compared = ['item', 'index', 'columns', 'isSelected', 'isMarked', 'hasLeft'] as const

/** Renders again only if a compared property changes. `linkOf` and `onOpen` are not compared: they depend on the item only. */
export const Row = memo(RowView, (before, after) =>
  compared.every((name) => Object.is(before[name], after[name])),
) as typeof RowView
