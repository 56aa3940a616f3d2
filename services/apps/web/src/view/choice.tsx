import type { ReactNode } from 'react'
import type { ChoiceInput } from '../page/needs.js'
import { listOptions, type Option } from '../page/options.js'
import type { PageStore } from '../page/store.js'
import { usePage } from './context.js'
import type { ControlProps } from './control-props.js'
import { LoadState } from './failure.js'

interface ChoiceProps extends ControlProps<ChoiceInput> {
  name: string
  /** Label of the empty option. */
  empty: string
  notes?: ReactNode
}

/** Chooses one option from a fixed list or from the rows of a source. */
export function ChoiceControl({ notes, empty, ...props }: ChoiceProps) {
  const { store } = usePage()
  const options = listOptions(store, props.input)
  const state = <OptionState input={props.input} name={props.name} store={store} />
  if (props.input.type === 'radio')
    return (
      <Radios
        {...props}
        options={options}
        notes={
          <>
            {state}
            {notes}
          </>
        }
      />
    )
  const { id, typed, onTyped, aria, input } = props
  return (
    <>
      <select
        {...{ id, ...aria }}
        value={String(typed)}
        onChange={(event) => onTyped(event.currentTarget.value)}
      >
        {/* A required choice must be made explicitly, so no option is preselected. */}
        {(!input.required || typed === '') && <option value="">{input.required ? 'Choose…' : empty}</option>}
        {options.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      {state}
    </>
  )
}

interface RadioProps extends ControlProps<ChoiceInput> {
  options: readonly Option[]
  name: string
  notes: ReactNode
}

function Radios({ name, id, typed, onTyped, aria, options, notes }: RadioProps) {
  const { 'aria-describedby': described, 'aria-invalid': isWrong, 'aria-required': isRequired } = aria
  return (
    <div
      className="field"
      role="radiogroup"
      aria-labelledby={`${id}-name`}
      {...{ 'aria-describedby': described, 'aria-invalid': isWrong, 'aria-required': isRequired }}
    >
      <span className="name" id={`${id}-name`}>
        {name}
      </span>
      {options.map(({ value, label }, index) => (
        <div className="check" key={value}>
          <input
            {...{ type: 'radio', id: index === 0 ? id : `${id}-${index}`, value, checked: value === typed }}
            name={id}
            onChange={() => onTyped(value)}
          />
          <label htmlFor={index === 0 ? id : `${id}-${index}`}>{label}</label>
        </div>
      ))}
      {notes}
    </div>
  )
}

interface OptionStateProps {
  input: ChoiceInput
  name: string
  store: PageStore
}

/** For options from a source: a search field, a button for more options, and the load error. */
function OptionState({ input, name, store }: OptionStateProps) {
  const { options } = input
  if (Array.isArray(options)) return null
  const { source, params, search } = options
  const loaded = store.loaded(source, params)
  return (
    <>
      {search !== undefined && (
        <input
          type="search"
          aria-label={`Search among the options of ${name}`}
          placeholder="Search the options"
          value={store.searched(input)}
          onChange={(event) => store.searchOptions(input, event.currentTarget.value)}
        />
      )}
      <LoadState loaded={loaded} onRetry={() => store.refresh([source])} />
      {search !== undefined && !loaded.isLoading && !loaded.error && (
        <p className="help" role="status">
          {found(loaded.rows.length, loaded.nextCursor !== null)}
        </p>
      )}
      {loaded.nextCursor && (
        <button
          type="button"
          className="plain"
          aria-disabled={loaded.isLoading}
          onClick={() => store.more(source, params)}
        >
          {loaded.isLoading ? 'Loading…' : 'Load more options'}
        </button>
      )}
    </>
  )
}

function found(count: number, hasMore: boolean): string {
  if (count === 0) return 'No options found.'
  return `${hasMore ? 'The first ' : ''}${count} ${count === 1 ? 'option' : 'options'}.`
}
