import type { AppProblem, Component, PageInput, TenantScope } from '@opsplane/contracts'
import type { Expressions } from '@opsplane/sandbox'
import {
  checkTemplates,
  createProblem,
  findMembers,
  type Path,
  type TemplateField,
  type TemplateReads,
} from './templates.js'

/** Names that the pages of an app can refer to. */
export interface KnownNames {
  sources: ReadonlySet<string>
  pages: ReadonlySet<string>
}

interface Placed {
  component: Component
  path: Path
}

/** Every component of a page with its path, in page order. */
function placeComponents(components: readonly Component[], path: Path): Placed[] {
  return components.flatMap((component, index) => {
    const at = [...path, index]
    const own = { component, path: at }
    switch (component.type) {
      case 'container':
        return [own, ...placeComponents(component.children, [...at, 'children'])]
      case 'tabs':
        return [
          own,
          ...component.tabs.flatMap(({ children }, tab) =>
            placeComponents(children, [...at, 'tabs', tab, 'children']),
          ),
        ]
      case 'form':
        return [own, ...placeComponents(component.fields, [...at, 'fields'])]
      default:
        return [own]
    }
  })
}

/** Fields that contain other components, or plain text for people. */
const notTemplates = new Set(['children', 'tabs', 'fields', 'help', 'submitLabel', 'empty'])

function templatesOf({ component, path }: Placed): TemplateField[] {
  return Object.entries(component)
    .filter(([name]) => !notTemplates.has(name))
    .map(([name, value]) => ({ path: [...path, name], value }))
}

export interface CheckedPage {
  /** Errors of the page itself: the page is not saved with them. */
  syntax: AppProblem[]
  /** References to names that do not exist (yet). */
  missing: AppProblem[]
}

/** Parses every expression of a page and checks the names it refers to. */
export async function checkPage(
  expressions: Pick<Expressions, 'check'>,
  { components }: Pick<PageInput, 'components'>,
  knownNames: KnownNames,
  tenant: TenantScope,
): Promise<CheckedPage> {
  const all = placeComponents(components, ['components'])
  const { problems, reads } = await checkTemplates(expressions, all.flatMap(templatesOf), tenant)
  return {
    syntax: [...problems, ...repeatedIds(all)],
    missing: [
      ...all.flatMap((each) => unknownNames(each, knownNames)),
      ...unknownMembers(all, reads, knownNames.sources),
    ],
  }
}

function repeatedIds(all: readonly Placed[]): AppProblem[] {
  const seen = new Set<string>()
  return all.flatMap(({ component: { id }, path }) => {
    if (id === undefined) return []
    if (seen.has(id)) return [createProblem([...path, 'id'], 'not_unique', `${id} names another component`)]
    seen.add(id)
    return []
  })
}

/** Checks the fields that name a source or a page. */
function unknownNames({ component, path }: Placed, { sources, pages }: KnownNames): AppProblem[] {
  const found: AppProblem[] = []
  const source = (name: string | undefined, at: Path) => {
    if (name !== undefined && !sources.has(name))
      found.push(createProblem([...path, ...at], 'unknown_source', `there is no data source ${name}`))
  }
  if ('source' in component) source(component.source, ['source'])
  if ('options' in component && !Array.isArray(component.options))
    source(component.options.source, ['options', 'source'])
  for (const [field, action] of actionsOf(component)) {
    source(action.source, [field, 'source'])
    for (const [index, name] of (action.then?.refresh ?? []).entries())
      source(name, [field, 'then', 'refresh', index])
    const page = action.then?.page
    if (page !== undefined && !pages.has(page))
      found.push(createProblem([...path, field, 'then', 'page'], 'unknown_page', `there is no page ${page}`))
  }
  return found
}

function actionsOf(component: Component) {
  if (component.type === 'table') return component.onRow ? [['onRow', component.onRow] as const] : []
  return 'action' in component ? [['action', component.action] as const] : []
}

/** Finds `inputs.x` without such a component, and `data.x` without such a component or source. */
function unknownMembers(
  all: readonly Placed[],
  reads: readonly TemplateReads[],
  sources: ReadonlySet<string>,
): AppProblem[] {
  const ids = new Set(all.flatMap(({ component: { id } }) => (id === undefined ? [] : [id])))
  return reads
    .flatMap((each) => findMembers(each, ['inputs', 'data']))
    .filter(({ root, name }) => !ids.has(name) && !(root === 'data' && sources.has(name)))
    .map(({ root, name, path }) => ({
      ...{ path, code: root === 'data' ? 'unknown_source' : 'unknown_input' },
      message: root === 'data' ? `there is no data source ${name}` : `there is no component ${name}`,
    }))
}
