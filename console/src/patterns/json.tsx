import { useMemo } from 'react'
import { countIndent, indentedJson, isUnbroken, jsonParts } from '../format/json.js'
import { Copy } from './copy.js'

/** Beyond it a text is shown in one colour: the pieces would be more nodes than a page bears. */
const mostColoured = 40_000

/** A body or a record: JSON on lines and in colours, anything else as it is. What is shown is text, never markup. */
export function Code({ text, label }: { text: string; label: string }) {
  const shown = useMemo(() => indentedJson(text), [text])
  return (
    <div className="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by keys as well. */}
      <section className="code-scroll" aria-label={label} tabIndex={0}>
        <pre>
          {shown === undefined || shown.length > mostColoured ? (shown ?? text) : <Coloured text={shown} />}
        </pre>
      </section>
      <span className="code-copy">
        <Copy text={text} />
      </span>
    </div>
  )
}

/** How much further in a line goes on than it begins, in characters. */
const hanging = 2

function Coloured({ text }: { text: string }) {
  return text.split('\n').map((line, index) => {
    const inset = `${countIndent(line) + hanging}ch`
    return (
      <span key={index} className="code-line" style={{ paddingInlineStart: inset, textIndent: `-${inset}` }}>
        <Line text={line} />
      </span>
    )
  })
}

function Line({ text }: { text: string }) {
  const parts = jsonParts(text)
  const value = parts.findIndex(([kind, piece]) => kind === 'string' && isUnbroken(piece))
  if (value < 0) return <Pieces parts={parts} />
  // With the comma after it.
  return (
    <>
      <Pieces parts={parts.slice(0, value)} />
      <span className="code-whole">
        <Pieces parts={parts.slice(value)} />
      </span>
    </>
  )
}

function Pieces({ parts }: { parts: readonly ReturnType<typeof jsonParts>[number][] }) {
  return parts.map(([kind, piece], index) =>
    kind === 'plain' ? (
      piece
    ) : (
      <span key={index} className={`code-${kind}`}>
        {piece}
      </span>
    ),
  )
}
