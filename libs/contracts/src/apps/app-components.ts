import { z } from 'zod'
import { JsonValue } from '../json/json-value.js'
import { AppNameReference, appBounds, AppName as Id } from './app-names.js'

/** May contain `{{ }}`: see `Component`. */
const Text = z.string().max(10_000)
const Value = JsonValue
const Params = z.record(z.string().max(appBounds.name), Value).default({})

/** Effect of pressing a button or row, or of submitting a form. */
export const AppAction = z
  .strictObject({
    source: AppNameReference.optional().meta({ description: 'The data source that the action calls first.' }),
    operation: z
      .enum(['get', 'create', 'update', 'delete'])
      .optional()
      .meta({ description: 'Operation of a table source.' }),
    params: Params,
    id: Text.optional().meta({ description: 'Id of the record to get, update or delete.' }),
    values: z
      .record(z.string(), Value)
      .optional()
      .meta({ description: 'Values to write. Default in a form: the values of the form.' }),
    version: Text.optional().meta({
      description: 'Version that the record must still have, such as `{{ data.asset.rows[0].version }}`.',
    }),
    then: z
      .strictObject({
        refresh: z.array(AppNameReference).max(20).default([]),
        page: z.string().max(60).optional().meta({ description: 'Slug of the page to open.' }),
        pageParams: z.record(Id, Text).optional().meta({
          description:
            'Parameters available on that page as `page.params`. They are not part of any URL that is sent to a server.',
        }),
        message: Text.optional(),
        set: z.record(Id, Value).optional().meta({ description: 'Values to set, by the id of the input.' }),
      })
      .optional(),
    confirm: Text.optional().meta({
      description: 'Confirmation text that the user must accept before the action runs.',
    }),
  })
  .meta({ id: 'AppAction' })
export type AppAction = z.infer<typeof AppAction>

const base = {
  id: Id.optional().meta({ description: 'Name of the component in expressions. Unique in the page.' }),
  visible: Text.optional().meta({ description: 'Expression that hides the component if it is false.' }),
}
const Format = z.enum(['text', 'number', 'percent', 'date', 'datetime', 'boolean', 'badge', 'duration'])
const Options = z
  .union([
    z.array(z.strictObject({ value: z.string().max(200), label: z.string().max(200) })).max(500),
    z.strictObject({
      source: AppNameReference,
      value: z.string().max(63),
      label: z.string().max(63),
      params: Params,
      search: AppNameReference.optional().meta({
        description: 'Parameter of the source that receives the search text for the options.',
      }),
      find: AppNameReference.optional().meta({
        description:
          'Parameter of the source that receives the current value, in order to show its label if it is not among the ' +
          'first rows.',
      }),
    }),
  ])
  .meta({
    description: 'A fixed list, or the rows of a source with the fields that provide value and label.',
  })

const inputBase = {
  ...base,
  id: Id,
  label: z.string().min(1).max(200),
  help: z.string().max(500).optional(),
  required: z.boolean().default(false),
  value: Value.optional().meta({ description: 'Initial value.' }),
}
export const InputComponent = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('text_input'),
    ...inputBase,
    maxLength: z.int().min(1).max(100_000).optional(),
  }),
  z.strictObject({
    type: z.literal('text_area'),
    ...inputBase,
    maxLength: z.int().min(1).max(100_000).optional(),
  }),
  z.strictObject({
    ...{ type: z.literal('number_input'), ...inputBase },
    ...{ min: z.number().optional(), max: z.number().optional(), step: z.number().positive().optional() },
  }),
  z.strictObject({ type: z.literal('checkbox'), ...inputBase }),
  z.strictObject({ type: z.literal('select'), ...inputBase, options: Options }),
  z.strictObject({ type: z.literal('radio'), ...inputBase, options: Options }),
  z.strictObject({ type: z.literal('date_input'), ...inputBase }),
  z.strictObject({ type: z.literal('datetime_input'), ...inputBase }),
])
export type InputComponent = z.infer<typeof InputComponent>

const Column = z.strictObject({
  field: z.string().min(1).max(200).meta({ description: 'Dotted path into the row.' }),
  label: z.string().max(200).optional(),
  format: Format.default('text'),
})

const LeafComponent = z.discriminatedUnion('type', [
  z.strictObject({
    ...{ type: z.literal('text'), ...base, value: Text },
    style: z.enum(['body', 'heading', 'subheading', 'muted']).default('body'),
  }),
  z.strictObject({
    type: z.literal('metric'),
    ...base,
    label: Text,
    value: Text,
    format: Format.default('number'),
  }),
  z.strictObject({
    ...{
      type: z.literal('table'),
      ...base,
      label: z.string().min(1).max(200),
      source: AppNameReference,
      params: Params,
    },
    columns: z.array(Column).min(1).max(50),
    onRow: AppAction.optional().meta({
      description: 'Action for a selected row. Its expressions can use `row`.',
    }),
    empty: z.string().max(200).optional(),
  }),
  z.strictObject({
    ...{
      type: z.literal('detail'),
      ...base,
      label: z.string().min(1).max(200),
      source: AppNameReference,
      params: Params,
    },
    fields: z.array(Column).min(1).max(100),
  }),
  z.strictObject({
    ...{
      type: z.literal('chart'),
      ...base,
      label: z.string().min(1).max(200),
      source: AppNameReference,
      params: Params,
    },
    ...{ kind: z.enum(['bar', 'line', 'pie']), x: z.string().max(200), y: z.string().max(200) },
  }),
  z.strictObject({
    ...{ type: z.literal('button'), ...base, label: z.string().min(1).max(200), action: AppAction },
    style: z.enum(['primary', 'secondary', 'danger']).default('secondary'),
  }),
  z.strictObject({
    ...{ type: z.literal('form'), ...base, id: Id, label: z.string().min(1).max(200) },
    ...{
      fields: z.array(InputComponent).min(1).max(100),
      submitLabel: z.string().min(1).max(100).default('Save'),
    },
    action: AppAction.meta({
      description:
        'Action that runs when the form is submitted. The values of the form are sent as `values`, or as `params` ' +
        'that contain `{{ form.x }}`.',
    }),
  }),
])

type LeafComponent = z.infer<typeof LeafComponent> | InputComponent
interface ContainerComponent {
  type: 'container'
  id?: string | undefined
  visible?: string | undefined
  label?: string | undefined
  direction: 'row' | 'column'
  children: Component[]
}
interface TabsComponent {
  type: 'tabs'
  id?: string | undefined
  visible?: string | undefined
  tabs: { label: string; children: Component[] }[]
}
export type Component = LeafComponent | ContainerComponent | TabsComponent

const bounds = { children: 100, depth: 8, components: 500, bytes: 65_536 }

const Children: z.ZodType<Component[]> = z.lazy(() => z.array(Component).max(bounds.children))

/**
 * A node of a page. Expressions in `{{ }}` are JSONata over `{ inputs: {id: value}, data: {name: {rows, value, error}},
 * form, row, result, user, page: {slug, params} }`, evaluated in the browser: they decide what is shown and which typed
 * parameters are sent, never what may be read. `data` contains the loaded data of each component that has an id, under
 * that id, and under a source's name the data of the first component of the page that shows the source. A source that
 * is only named in expressions is loaded without parameters. `form` contains the values of the form an action belongs
 * to, `result` the return value of a called source, for the actions in `then`.
 */
export const Component: z.ZodType<Component> = z
  .discriminatedUnion('type', [
    ...LeafComponent.options,
    ...InputComponent.options,
    z.strictObject({
      ...{ type: z.literal('container'), ...base, label: z.string().max(200).optional() },
      direction: z.enum(['row', 'column']).default('column'),
      children: Children,
    }),
    z.strictObject({
      ...{ type: z.literal('tabs'), ...base },
      tabs: z
        .array(z.strictObject({ label: z.string().min(1).max(100), children: Children }))
        .min(1)
        .max(20),
    }),
  ])
  .meta({ id: 'AppComponent' })

/** Direct children of a component. */
function listChildren(component: Component): readonly Component[] {
  if (component.type === 'container') return component.children
  if (component.type === 'tabs') return component.tabs.flatMap(({ children }) => children)
  return component.type === 'form' ? component.fields : []
}

/** The components of a page, limited in depth, number and size. */
const Components = z
  .array(Component)
  .max(bounds.children)
  .superRefine((components, context) => {
    const refuse = (message: string) => context.addIssue({ code: 'custom', message })
    let [level, count, depth]: [readonly Component[], number, number] = [components, 0, 0]
    while (level.length > 0) {
      count += level.length
      depth += 1
      level = level.flatMap(listChildren)
    }
    if (depth > bounds.depth) refuse(`must not be nested deeper than ${bounds.depth}`)
    if (count > bounds.components) refuse(`must have at most ${bounds.components} components in all`)
    if (JSON.stringify(components).length > bounds.bytes)
      refuse(`must have at most ${bounds.bytes} characters, written as JSON`)
  })

export const PageSlug = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?$/, 'must be a slug such as open-orders')

/** The fields of a page, without those every resource has. */
export const pageFields = {
  slug: PageSlug,
  title: z.string().trim().min(1).max(200),
  position: z.int().min(0).max(1_000),
  inNavigation: z.boolean(),
  components: Components,
}

export const PageInput = z
  .strictObject({
    ...pageFields,
    slug: PageSlug.meta({ description: 'Unique in the app.' }),
    position: pageFields.position.default(0).meta({
      description:
        'Position of the page. Pages are shown in ascending order; the app opens with the first one.',
    }),
    inNavigation: pageFields.inNavigation.default(true).meta({
      description:
        'Whether the navigation shows the page. Set it to `false` for a page that is only reached from other pages, ' +
        'such as the page of a record.',
    }),
    components: pageFields.components.default([]),
  })
  .meta({
    id: 'NewAppPage',
    example: {
      slug: 'assets',
      title: 'Assets',
      components: [
        { type: 'table', label: 'Assets', source: 'assets', columns: [{ field: 'serial_number' }] },
      ],
    },
  })
export type PageInput = z.infer<typeof PageInput>

export const PagePatch = z
  .strictObject(pageFields)
  .partial()
  .meta({ id: 'AppPagePatch', example: { title: 'All assets' } })
export type PagePatch = z.infer<typeof PagePatch>
