import { useMemo } from 'react'
import { countIndent, indentedJson, isUnbroken, jsonParts } from '../format/json.js'
import { Copy } from './copy.js'

/** Longer texts are shown in one colour: the tokens would create too many DOM nodes. In characters. */
const maxColoured = 40_000

/**
 * Shows a request body or a record: JSON is indented and coloured, other text is unchanged. The content is always
 * rendered as text, never as markup.
 */
export function Code({ text, label }: { text: string; label: string }) {
  const shown = useMemo(() => indentedJson(text), [text])
  return (
    <div className="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard. */}
      <section className="code-scroll" aria-label={label} tabIndex={0}>
        <pre>
          {shown === undefined || shown.length > maxColoured ? (shown ?? text) : <Coloured text={shown} />}
        </pre>
      </section>
      <span className="code-copy">
        <Copy text={text} />
      </span>
    </div>
  )
}

/** Hanging indent of wrapped lines, in characters. */
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
  // The unbroken part includes the comma after the string.
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
