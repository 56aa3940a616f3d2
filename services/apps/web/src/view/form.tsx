import type { AppAction, InputComponent } from '@opsplane/contracts'
import { useId, useRef, useState } from 'react'
import { ApiFailure, isOutdated } from '../api.js'
import type { FormComponent } from '../page/needs.js'
import { isShown } from '../page/resolve-request.js'
import { buildSubmission, changesRecord, findProblems, type Problems } from '../page/submission.js'
import { Comparison } from './comparison.js'
import { useAction, usePage, useValue } from './context.js'
import { ActionFailure, NotShown } from './failure.js'
import { InputView } from './input.js'

/** Validates its fields, then runs its action; the first invalid field gets the focus. */
export function FormView({ component }: { component: FormComponent }) {
  const { label, fields, submitLabel, action } = component
  const { store } = usePage()
  const [problems, setProblems] = useState<Problems>({})
  const [notice, setNotice] = useState('')
  const { run, isBusy, error, forget } = useAction(action as AppAction)
  const element = useRef<HTMLFormElement>(null)
  const id = useId()
  const rejectedFields = refusedFields(error, fields)
  const differences = isOutdated(error) ? store.inputs.differences(component) : []

  const submit = async () => {
    const found = await findProblems(store, component)
    setProblems(found)
    setNotice('')
    forget()
    if (Object.values(found).some(Boolean)) return focusFirst(element.current)
    const isEmpty = changesRecord(action) && !store.inputs.hasChanges(component)
    if (isEmpty) return setNotice('There is nothing to save: no field was changed.')
    await run({ form: buildSubmission(store, component) })
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
        <FormField
          key={field.id}
          input={field}
          problem={problems[field.id] ?? rejectedFields[field.id]?.message}
        />
      ))}
      {differences.length > 0 ? (
        <Comparison
          differences={differences}
          isBusy={isBusy}
          onChosen={(savedFields) => {
            store.rebase(component, savedFields)
            void submit()
          }}
          onDiscard={() => {
            store.reset(fields)
            forget()
          }}
        />
      ) : (
        <>
          <ActionFailure
            error={error}
            except={Object.values(rejectedFields).map((detail) => detail?.path ?? '')}
          />
          <p className={notice ? 'help' : ''} role="status">
            {notice}
          </p>
          <button type="submit" className="primary" aria-disabled={isBusy}>
            {isBusy ? `${submitLabel}…` : submitLabel}
          </button>
        </>
      )}
    </form>
  )
}

function FormField({ input, problem }: { input: InputComponent; problem: string | undefined }) {
  const { store } = usePage()
  const visible = useValue(input.visible ?? true, store.scope)
  if (visible.error !== undefined) return <NotShown error={visible.error} />
  return isShown(visible.value) ? <InputView input={input} problem={problem} isOfForm /> : null
}

/** Errors of the server by field; the last segment of the path names the field. */
function refusedFields(error: unknown, fields: readonly InputComponent[]) {
  const details = error instanceof ApiFailure ? error.details : []
  return Object.fromEntries(
    fields.map(({ id }) => [id, details.find(({ path }) => path.split('/').at(-1) === id)]),
  )
}

/** For a group of radio buttons, the first button receives the focus. */
const wrong = '[aria-invalid="true"]:not(div), [aria-invalid="true"] input'

/** Runs after the fields are marked as invalid. */
function focusFirst(form: HTMLFormElement | null): void {
  requestAnimationFrame(() => form?.querySelector<HTMLElement>(wrong)?.focus())
}
