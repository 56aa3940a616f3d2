import { Copy } from './copy.js'

/** Something that is shown this once, to be copied. */
export function Once({ text, label }: { text: string; label: string }) {
  return (
    <div className="once">
      <code>{text}</code>
      <Copy text={text} label={label} />
    </div>
  )
}
