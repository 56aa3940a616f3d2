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

/** Selects one of a few values, or all. */
export function Tabs<Value extends string>({ label, value, options, onChange }: TabsProps<Value>) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset draws its own box, which these buttons must not have.
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
  /** Example of a valid input, shown while the field has the focus. */
  example?: string
  value: string | undefined
  /** A text that does not match is marked as invalid and not applied. */
  pattern?: RegExp
  wrong?: string
  onChange(value: string | undefined): void
}

/** A text filter that is applied on Enter or when the field loses the focus. The key `/` moves the focus to the field. */
export function FilterText(props: FilterTextProps) {
  // The key makes the field show the value of the URL, also after navigating back.
  return <FilterInput key={props.value ?? ''} {...props} />
}

function FilterInput({ label, placeholder, example, value = '', pattern, wrong, onChange }: FilterTextProps) {
  const [isFocused, setFocused] = useState(false)
  const shownExample = example === undefined ? undefined : texts.common.suchAs(example)
  const input = useRef<HTMLInputElement>(null)
  // Text that is not applied yet survives a reload and the end of the session.
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

/** Shown if no row matches the filters of a list. */
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
