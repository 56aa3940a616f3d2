import type { ExprNode } from 'jsonata'
import { knownFunctions } from './known-functions.js'

/** Properties of syntax trees that JSONata's types omit. */
type Node = Omit<ExprNode, 'type'> & {
  type: string
  stages?: { expr?: Node }[]
  group?: { lhs: unknown }
  focus?: string
  index?: string
}

/** Reference to the whole scope. */
const everything = '*'

/** Children of a node that are evaluated in the same context as the node. */
const sameContext = [
  'arguments',
  'procedure',
  'expressions',
  'expression',
  'condition',
  'then',
  'else',
  'lhs',
  'rhs',
  'body',
] as const
/** Children that are evaluated in another context. */
const otherContext = ['stages', 'predicate', 'group', 'terms', 'pattern', 'update', 'delete', 'expr'] as const

/** A variable that the expression does not define. */
export interface UnknownVariable {
  name: string
  position: number | undefined
}

interface References {
  /** Sorted. */
  paths: string[]
  unknown: UnknownVariable | undefined
}

/**
 * Finds the root paths that an expression reads: names of scope fields, `steps` with the name of the step, and `*` if it
 * may read any field (`$`, `$$`, wildcards). Also finds the first undefined variable or function.
 */
export function findReferences(ast: ExprNode): References {
  const found = new Set<string>()
  const bound = new Set<string>()
  const used: UnknownVariable[] = []
  const seen: [WeakSet<object>, WeakSet<object>] = [new WeakSet(), new WeakSet()]

  const visit = (part: unknown, atRoot: boolean): void => {
    if (part === null || typeof part !== 'object') return
    // Trees share nodes: `a ?? b` contains its left side twice.
    const visited = seen[atRoot ? 0 : 1]
    if (visited.has(part)) return
    visited.add(part)
    if (Array.isArray(part)) for (const item of part) visit(item, atRoot)
    else visitNode(part as Node, atRoot)
  }

  const visitNode = (node: Node, atRoot: boolean) => {
    for (const name of namesBoundBy(node)) bound.add(name)
    if (node.type === 'variable') used.push({ name: String(node.value), position: node.position })
    if (node.type === 'path') return visitPath(node, atRoot)
    if (readsEverything(node, atRoot)) found.add(everything)
    visitParts(node, atRoot)
  }

  const visitPath = (node: Node, atRoot: boolean) => {
    const [first, ...rest] = (node.steps ?? []) as Node[]
    const names = isRoot(first, atRoot)
      ? rest
      : atRoot && first?.type === 'name'
        ? [first, ...rest]
        : undefined
    if (names === undefined) visit(first, atRoot)
    else found.add(rootPath(names))
    if (names !== undefined && first) visitParts(first, atRoot)
    for (const name of namesBoundBy(first)) bound.add(name)
    visit(rest, false)
    visit(node.group, false)
  }

  const visitParts = (node: Node, atRoot: boolean) => {
    const parts = node as unknown as Record<string, unknown>
    // Names in the parts of a transformation refer to the transformed value.
    for (const part of sameContext) visit(parts[part], atRoot)
    for (const part of otherContext) visit(parts[part], false)
  }

  visit(ast, true)
  const unknown = used.find(
    ({ name }) => !contexts.has(name) && !knownFunctions.has(name) && !bound.has(name),
  )
  return { paths: [...found].sort(), unknown }
}

const contexts = new Set(['', '$'])

/** Names bound by `:=`, as function parameters, or by `@` and `#`. */
function namesBoundBy(node: Node | undefined): string[] {
  const { type, focus, index, lhs } = node ?? {}
  const names = [focus, index].filter((name) => name !== undefined)
  if (type === 'bind') names.push(String((lhs as ExprNode).value))
  if (type === 'lambda') names.push(...(node?.arguments ?? []).map(({ value }) => String(value)))
  return names
}

/** `$$` always refers to the scope; `$` only while no other context applies. */
const isRoot = (node: Node | undefined, atRoot: boolean): boolean =>
  node?.type === 'variable' && (node.value === '$' || (atRoot && node.value === ''))

const readsEverything = (node: Node, atRoot: boolean): boolean =>
  isRoot(node, atRoot) ||
  (atRoot && (node.type === 'wildcard' || node.type === 'descendant')) ||
  node.type === 'parent'

function rootPath([first, second]: Node[]): string {
  if (first?.type !== 'name') return everything
  const isStep = first.value === 'steps' && !first.stages && second?.type === 'name'
  return isStep ? `steps.${second.value}` : String(first.value)
}
