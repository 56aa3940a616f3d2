import { Copy } from './copy.js'

/** A value that is shown only once, with a copy button. */
export function Once({ text, label }: { text: string; label: string }) {
  return (
    <div className="once">
      <code>{text}</code>
      <Copy text={text} label={label} />
    </div>
  )
}
