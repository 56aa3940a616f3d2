import {
  ApiError,
  type ChangePatch,
  type ChangeState,
  type ChangeTemplateState,
  type ErrorDetail,
  idSchema,
  invalidField,
  type NewChange,
} from '@opsplane/contracts'
import { applyPatch } from '../patch.js'

/** What was agreed on beforehand, as it is now, and the classes of the items the change touches. */
export interface TemplateAgreement {
  /** Null where there is none of this id. */
  template: ChangeTemplateState | null
  classes: ReadonlyMap<string, string>
}

/** The fields of a standard change that are its template's. */
const agreedFields = [
  'implementationPlan',
  'testPlan',
  'backoutPlan',
  'impact',
  'successProbability',
] as const
type Agreed = Pick<ChangeState, (typeof agreedFields)[number]>

const defaultAgreed: Agreed = {
  implementationPlan: null,
  testPlan: null,
  backoutPlan: null,
  impact: 'medium',
  successProbability: null,
}

/** A new change with all fields a person enters: those of its template, or as given. */
export function buildDraft(
  input: NewChange,
  agreed: TemplateAgreement | undefined,
): Omit<NewChange, keyof Agreed | 'title'> & Agreed & { title: string } {
  const template = input.type === 'standard' ? activeTemplate(input, agreed) : undefined
  if (template) checkGiven(input, template)
  const title = input.title ?? template?.title
  if (!title) throw invalidField('/title', 'required', 'The change needs a title, as its template has none.')
  const own = template ? pickAgreed(template) : applyPatch(defaultAgreed, pickAgreed(input))
  if (template) checkFit({ ...input, ...own }, template, agreed)
  return { ...input, ...own, title }
}

/**
 * What an edit makes of a change. A standard one takes over the template it is given, and its texts are altered in no
 * other way. One that is no longer a standard change keeps them as its own.
 */
export function applyTemplateEdit<State extends ChangeState>(
  { before, asked, patch }: { before: ChangeState; asked: State; patch: ChangePatch },
  agreed: TemplateAgreement | undefined,
): State {
  const was = before.type === 'standard'
  if (asked.type !== 'standard')
    return was && patch.templateId === undefined ? { ...asked, templateId: null } : asked
  if (!was || asked.templateId !== before.templateId) {
    const template = activeTemplate(asked, agreed)
    checkGiven(patch, template)
    const wanted = { ...asked, ...pickAgreed(template) }
    checkFit(wanted, template, agreed)
    return wanted
  }
  if (!isTemplated(before)) return asked
  checkGiven(patch, before)
  if (agreed?.template) checkFit(asked, agreed.template, agreed, before)
  return asked
}

/**
 * A standard change as it is handed in: with what its template says now, which is what was agreed on, and not what it said
 * when the change was drafted. Throws validation_failed where it does not keep to that.
 */
export function applyTemplate<State extends ChangeState>(
  change: State,
  agreed: TemplateAgreement | undefined,
): State {
  const template = activeTemplate(change, agreed)
  checkFit(change, template, agreed)
  return { ...change, ...pickAgreed(template) }
}

/** Before there were templates, `templateId` was any name or none: such a change has texts of its own. */
const isTemplated = ({ templateId }: ChangeState) => idSchema('changeTemplate').safeParse(templateId).success

function activeTemplate(
  { templateId }: Pick<ChangeState, 'templateId'>,
  agreed: TemplateAgreement | undefined,
): ChangeTemplateState {
  const refused = (code: string, message: string) => invalidField('/templateId', code, message)
  if (templateId === null) throw refused('required', 'A standard change requires a template.')
  const template = agreed?.template
  if (!template) throw refused('not_found', 'There is no such template in this workspace and environment.')
  if (template.status !== 'active') throw refused('inactive', `The template ${template.name} is inactive.`)
  return template
}

type Given = { [Name in keyof Agreed]?: Agreed[Name] | undefined }

const pickAgreed = <Own extends Given>({
  implementationPlan,
  testPlan,
  backoutPlan,
  impact,
  successProbability,
}: Own): Pick<Own, keyof Agreed> => ({
  implementationPlan,
  testPlan,
  backoutPlan,
  impact,
  successProbability,
})

/** Throws validation_failed naming each field that is the template's and was given as something else. */
function checkGiven(given: Given, own: Agreed): void {
  rejectDetails(
    agreedFields
      .filter((name) => given[name] !== undefined && given[name] !== own[name])
      .map((name) => ({
        in: 'body',
        path: `/${name}`,
        code: 'from_template',
        message: 'comes from the template of a standard change',
      })),
    'These fields of a standard change come from its template and cannot be edited.',
  )
}

type Planned = Pick<ChangeState, 'plannedStart' | 'plannedEnd' | 'ciIds'>

/** Throws validation_failed where the change goes beyond its template; an edit, only for what it altered. */
function checkFit(
  change: Planned,
  { ciClasses, maxDurationMinutes }: ChangeTemplateState,
  agreed: TemplateAgreement | undefined,
  before?: Planned,
): void {
  const { plannedStart, plannedEnd, ciIds } = change
  const details: ErrorDetail[] = []
  const shifted = plannedStart !== before?.plannedStart || plannedEnd !== before?.plannedEnd
  const minutes =
    plannedStart && plannedEnd ? (Date.parse(plannedEnd) - Date.parse(plannedStart)) / 60_000 : 0
  if (shifted && maxDurationMinutes !== null && minutes > maxDurationMinutes)
    details.push({
      in: 'body',
      path: '/plannedEnd',
      code: 'too_long',
      message: `The template allows at most ${maxDurationMinutes} minutes.`,
    })
  for (const [index, id] of ciIds.entries()) {
    const itemClass = agreed?.classes.get(id)
    const kept = before?.ciIds.includes(id) || itemClass === undefined || ciClasses === null
    if (kept || ciClasses.includes(itemClass)) continue
    const message = `The template is for ${ciClasses.join(', ')}, and this is a ${itemClass}.`
    details.push({ in: 'body', path: `/ciIds/${index}`, code: 'wrong_class', message })
  }
  rejectDetails(details, 'The change exceeds the limits of its template.')
}

function rejectDetails(details: ErrorDetail[], message: string): void {
  if (details.length > 0) throw new ApiError('validation_failed', message, { details })
}
