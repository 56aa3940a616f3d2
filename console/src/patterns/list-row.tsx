// biome-ignore-all lint/a11y/useSemanticElements: rows that are out of sight are not there, and those that are stand where they belong by their position, which the rows of a table cannot.
// biome-ignore-all lint/a11y/useFocusableInteractive: the link of a row takes the focus.
import { Link, type LinkProps } from '@tanstack/react-router'
import { type CSSProperties, memo, type ReactNode } from 'react'

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
  /** The tracks of its grid; undefined for a row of two lines. */
  tracks: string | undefined
  height: number
  top: number
  isSelected: boolean
  isMarked: boolean
  /** It belongs to the list no more. */
  hasLeft: boolean
  linkOf(item: Item): LinkProps
}

function RowView<Item>({ item, index, columns, tracks, height, top, linkOf, ...state }: RowProps<Item>) {
  const place: CSSProperties = { height, transform: `translateY(${top}px)` }
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={state.isSelected}
      className="list-row"
      data-cursor={state.isMarked || undefined}
      data-left={state.hasLeft || undefined}
      title={tracks === undefined ? columns.find(({ hintOf }) => hintOf)?.hintOf?.(item) : undefined}
      style={{ ...(tracks !== undefined && { gridTemplateColumns: tracks }), ...place }}
    >
      {columns.map((column) => (
        <div
          key={column.id}
          role="cell"
          className={`cell cell-${column.id} narrow-${column.narrow ?? 'none'}`}
        >
          {column.narrow === 'title' ? (
            <Link {...linkOf(item)} className="row-link ellipsis" dir="auto">
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

const compared = ['item', 'index', 'columns', 'tracks', 'height', 'top'] as const
const states = ['isSelected', 'isMarked', 'hasLeft'] as const

/** Rendered again only where it differs. `linkOf` is not compared: a link follows from its item. */
export const Row = memo(RowView, (before, after) =>
  [...compared, ...states].every((name) => Object.is(before[name], after[name])),
) as typeof RowView
