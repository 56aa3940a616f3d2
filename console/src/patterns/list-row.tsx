// biome-ignore-all lint/a11y/useSemanticElements: rows that are out of sight are not there, and those that are stand where they belong by their position, which the rows of a table cannot.
// biome-ignore-all lint/a11y/useFocusableInteractive: the link of a row takes the focus.
import { Link, type LinkProps } from '@tanstack/react-router'
import { type CSSProperties, type MouseEvent, memo, type ReactNode } from 'react'

export interface Column<Item> {
  id: string
  head: string
  /** A track of a CSS grid. */
  width: string
  /** Its place in a row of two lines, where the list is narrow; without one it is left out there. */
  narrow?: 'state' | 'title' | 'time' | 'meta'
  /** Of what has only a sign where the list is narrow: its word, shown on hover over the row. */
  hintOf?(item: Item): string
  cell(item: Item): ReactNode
}

interface RowProps<Item> {
  item: Item
  index: number
  columns: readonly Column<Item>[]
  isSelected: boolean
  isMarked: boolean
  /** It belongs to the list no more. */
  hasLeft: boolean
  linkOf(item: Item): LinkProps
  onOpen(item: Item): void
}

/** How wide it is, and so how high and where, is for the style sheet: the rows stay as they are when a detail opens. */
export const rowPlace = (index: number) => ({ '--row': index }) as CSSProperties

export const cellClass = ({ id, narrow }: Pick<Column<never>, 'id' | 'narrow'>): string =>
  `cell-${id} narrow-${narrow ?? 'none'}`

function RowView<Item>({ item, index, columns, linkOf, onOpen, ...state }: RowProps<Item>) {
  const onClick = (event: MouseEvent) => {
    // With another button or a key it is the browser's: a tab of its own, or a download.
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

/** Rendered again only where it differs. `linkOf` and `onOpen` are not compared: they follow from the item. */
export const Row = memo(RowView, (before, after) =>
  compared.every((name) => Object.is(before[name], after[name])),
) as typeof RowView
