import type { InputComponent } from '@opsplane/contracts'
import { useEffect, useId, useRef, useState } from 'react'
import { formatValue } from '../page/format.js'
import type { Difference } from '../page/input-states.js'
import type { Typed } from '../page/input-values.js'
import { listOptions } from '../page/options.js'
import type { PageStore } from '../page/store.js'
import { usePage } from './context.js'

interface ComparisonProps {
  differences: readonly Difference[]
  isBusy: boolean
  /** Called with the fields for which the other user's value is kept. */
  onChosen(savedFields: readonly InputComponent[]): void
  onDiscard(): void
}

/** Shows the user's changes next to those saved by others meanwhile; the user chooses one value for each field. */
export function Comparison({ differences, isBusy, onChosen, onDiscard }: ComparisonProps) {
  const { store } = usePage()
  const [theirs, setTheirs] = useState<readonly string[]>([])
  const heading = useRef<HTMLHeadingElement>(null)
  const id = useId()
  useEffect(() => heading.current?.focus(), [])
  const changed = differences.filter(({ mine, before, theirs: now }) => mine !== before && mine !== now)
  const others = differences.filter((each) => !changed.includes(each))
  const choose = (name: string, isSavedValue: boolean) =>
    setTheirs(isSavedValue ? [...theirs, name] : theirs.filter((each) => each !== name))
  return (
    <section className="comparison" aria-labelledby={id}>
      <h3 id={id} ref={heading} tabIndex={-1}>
        Someone else saved this record while you were editing
      </h3>
      <p>Nothing of yours is saved yet, and nothing is lost. Choose what to keep, then save again.</p>
      {changed.map((difference) => (
        <Choice
          key={difference.field.id}
          difference={difference}
          store={store}
          isTheirs={theirs.includes(difference.field.id)}
          onChoose={(isSavedValue) => choose(difference.field.id, isSavedValue)}
        />
      ))}
      {others.length > 0 && (
        <p className="help">
          Also changed by them, and kept:{' '}
          {others.map(({ field, theirs: now }) => `${field.label} (${shown(store, field, now)})`).join(', ')}.
        </p>
      )}
      <div className="stack row">
        <button
          type="button"
          className="primary"
          aria-disabled={isBusy}
          onClick={() =>
            onChosen(changed.map(({ field }) => field).filter((field) => theirs.includes(field.id)))
          }
        >
          Save what I have chosen
        </button>
        <button type="button" className="secondary" onClick={onDiscard}>
          Discard my changes
        </button>
      </div>
    </section>
  )
}

interface ChoiceProps {
  difference: Difference
  store: PageStore
  isTheirs: boolean
  onChoose(isSavedValue: boolean): void
}

function Choice({ difference: { field, before, mine, theirs }, store, isTheirs, onChoose }: ChoiceProps) {
  const id = useId()
  const state = theirs === before ? 'Saved value, not changed by them' : 'Their value'
  const options = [
    { name: 'My value', value: mine, isChosen: !isTheirs, choose: () => onChoose(false) },
    { name: state, value: theirs, isChosen: isTheirs, choose: () => onChoose(true) },
  ]
  return (
    <fieldset>
      <legend>{field.label}</legend>
      {options.map(({ name, value, isChosen, choose }, index) => (
        <div className="check" key={name}>
          <input type="radio" id={`${id}-${index}`} name={id} checked={isChosen} onChange={choose} />
          <label htmlFor={`${id}-${index}`}>
            <span className="muted">{name}:</span> {shown(store, field, value)}
          </label>
        </div>
      ))}
      {theirs !== before && <p className="help">Before both changes: {shown(store, field, before)}</p>}
    </fieldset>
  )
}

/** The value of a control, formatted for people. */
function shown(store: PageStore, field: InputComponent, typedValue: Typed): string {
  switch (field.type) {
    case 'checkbox':
      return formatValue(typedValue, 'boolean')
    case 'select':
    case 'radio':
      return (
        listOptions(store, field).find(({ value }) => value === typedValue)?.label ??
        formatValue(typedValue, 'text')
      )
    case 'date_input':
      return formatValue(typedValue, 'date')
    case 'datetime_input':
      return formatValue(typedValue === '' ? null : String(typedValue).replace('T', ' '), 'text')
    default:
      return formatValue(typedValue, 'text')
  }
}
