import { useState } from 'react'
import { texts } from '../texts/en.js'
import { Icon } from './icons.js'

/** Copies a text and confirms it. */
export function Copy({ text, label = texts.common.copy }: { text: string; label?: string }) {
  const [isDone, setDone] = useState(false)
  const copy = async () => {
    await copyText(text)
    setDone(true)
    setTimeout(() => setDone(false), 1_500)
  }
  return (
    <button
      type="button"
      className="copy"
      onClick={copy}
      aria-label={isDone ? texts.common.copied : label}
      title={label}
    >
      <Icon name={isDone ? 'check' : 'copy'} size={14} />
    </button>
  )
}

/** An origin without HTTPS has no clipboard API, but selected text can be copied there. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}

/** A complete id with a copy button. */
export function Id({ value }: { value: string }) {
  return (
    <span className="row id">
      <code className="ellipsis" title={value}>
        {value}
      </code>
      <Copy text={value} />
    </span>
  )
}
