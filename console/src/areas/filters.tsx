import { Button, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { useDraft } from '../patterns/draft.js'
import { useKeys } from '../patterns/keys.js'
import { Empty } from '../patterns/problem.js'
import { texts } from '../texts/en.js'

interface TabsProps<Value extends string> {
  label: string
  value: Value | undefined
  options: readonly (readonly [value: Value, label: string])[]
  onChange(value: Value | undefined): void
}

/** One of a few values, or all. */
export function Tabs<Value extends string>({ label, value, options, onChange }: TabsProps<Value>) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset has a box of its own, which these are not in.
    <div className="tabs" role="group" aria-label={label}>
      <button
        type="button"
        className="tab"
        aria-pressed={value === undefined}
        onClick={() => onChange(undefined)}
      >
        {texts.common.all}
      </button>
      {options.map(([option, name]) => (
        <button
          key={option}
          type="button"
          className="tab"
          aria-pressed={value === option}
          onClick={() => onChange(option)}
        >
          {name}
        </button>
      ))}
    </div>
  )
}

interface FilterTextProps {
  label: string
  placeholder: string
  /** Of what may be typed, shown while one is about to. */
  example?: string
  value: string | undefined
  /** A text that matches it is no filter: it is shown to be wrong, and nothing is asked. */
  pattern?: RegExp
  wrong?: string
  onChange(value: string | undefined): void
}

/** A filter that is typed, and asked for once it is complete: by Enter, or by leaving it. The key `/` goes to it. */
export function FilterText(props: FilterTextProps) {
  // What it shows is what the address says, also after going back.
  return <FilterInput key={props.value ?? ''} {...props} />
}

function FilterInput({ label, placeholder, example, value = '', pattern, wrong, onChange }: FilterTextProps) {
  const [isFocused, setFocused] = useState(false)
  const shownExample = example === undefined ? undefined : texts.common.suchAs(example)
  const input = useRef<HTMLInputElement>(null)
  // Typed text that is not applied yet survives a reload and the end of the session.
  const [draft, setDraft, clearDraft] = useDraft(`filter-${label}`, { text: value })
  useKeys({ '/': () => input.current?.focus() })
  const finish = () => {
    const text = input.current?.value.trim() ?? ''
    const isWrong = text !== '' && pattern !== undefined && !pattern.test(text)
    input.current?.setCustomValidity(isWrong ? (wrong ?? '') : '')
    input.current?.reportValidity()
    if (isWrong) return
    clearDraft()
    if (text !== value) onChange(text === '' ? undefined : text)
  }
  return (
    <TextInput
      ref={input}
      size="xs"
      className="filter-text"
      aria-label={label}
      placeholder={(isFocused && shownExample) || placeholder}
      title={shownExample === undefined ? label : `${label}, ${shownExample}`}
      defaultValue={draft.text}
      onChange={({ currentTarget }) => setDraft({ text: currentTarget.value })}
      onFocus={() => setFocused(true)}
      onBlur={() => {
        setFocused(false)
        finish()
      }}
      onKeyDown={({ key }) => {
        if (key === 'Enter') finish()
        if (key === 'Escape') input.current?.blur()
      }}
    />
  )
}

/** The filters of a list leave nothing of it. */
export function NothingMatches({ title }: { title: string }) {
  const navigate = useNavigate()
  return (
    <Empty title={title}>
      <Button
        size="xs"
        variant="default"
        onClick={() => void navigate({ to: '.', search: {}, replace: true })}
      >
        {texts.common.clear}
      </Button>
    </Empty>
  )
}
