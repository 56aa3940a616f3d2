import type { AppAction, InputComponent } from '@opsplane/contracts'
import { useId, useRef, useState } from 'react'
import { ApiFailure } from '../api.js'
import { problemOf } from '../page/input-values.js'
import { isShown } from '../page/store.js'
import { useAction, usePage, useValue } from './context.js'
import { ActionFailure } from './failure.js'
import { InputView } from './input.js'
import type { Of } from './kinds.js'

type Problems = Readonly<Record<string, string | undefined>>

/** Checks its fields, then runs its action; the first field that is wrong gets the focus. */
export function FormView({ component }: { component: Of<'form'> }) {
  const { label, fields, submitLabel, action } = component
  const { store } = usePage()
  const [problems, setProblems] = useState<Problems>({})
  const { run, isBusy, error } = useAction(action as AppAction)
  const element = useRef<HTMLFormElement>(null)
  const id = useId()
  const refused = refusedFields(error, fields)

  const submit = async () => {
    const found = problemsOf(fields, (field) => store.value(field))
    setProblems(found)
    if (Object.values(found).some(Boolean)) return focusFirst(element.current)
    const form = Object.fromEntries(fields.map((field) => [field.id, store.value(field)]))
    if (await run({ form })) store.reset(fields)
  }
  return (
    <form
      ref={element}
      className="card form"
      aria-labelledby={id}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <h2 id={id}>{label}</h2>
      {fields.map((field) => (
        <FormField key={field.id} input={field} problem={problems[field.id] ?? refused[field.id]?.message} />
      ))}
      <ActionFailure error={error} except={Object.values(refused).map((detail) => detail?.path ?? '')} />
      <button type="submit" className="primary" aria-disabled={isBusy}>
        {isBusy ? `${submitLabel}…` : submitLabel}
      </button>
    </form>
  )
}

function FormField({ input, problem }: { input: InputComponent; problem: string | undefined }) {
  const { store } = usePage()
  const visible = useValue(input.visible ?? true, store.scope)
  return visible.error === undefined && !isShown(visible.value) ? null : (
    <InputView input={input} problem={problem} isOfForm />
  )
}

const problemsOf = (fields: readonly InputComponent[], value: (field: InputComponent) => unknown): Problems =>
  Object.fromEntries(fields.map((field) => [field.id, problemOf(field, value(field))]))

/** What the server found wrong, by the field it names with the end of its path. */
function refusedFields(error: unknown, fields: readonly InputComponent[]) {
  const details = error instanceof ApiFailure ? error.details : []
  return Object.fromEntries(
    fields.map(({ id }) => [id, details.find(({ path }) => path.split('/').at(-1) === id)]),
  )
}

/** Of several radio buttons the first, which stands for them all. */
const wrong = '[aria-invalid="true"]:not(div), [aria-invalid="true"] input'

/** Once the fields are marked. */
function focusFirst(form: HTMLFormElement | null): void {
  requestAnimationFrame(() => form?.querySelector<HTMLElement>(wrong)?.focus())
}
