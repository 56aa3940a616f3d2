import { type Node, type ObjectExpression, type Property, parse, type SpreadElement } from 'acorn'

/** Needed until Node 22; see ADR 115. */
export const needsSpreads = Number.parseInt(process.versions.v8, 10) < 12

interface Edit {
  start: number
  end: number
  text: string
}

/**
 * Rewrites object literals that begin with a spread, for each of which V8 before 12.0 creates a separate hidden
 * class: `{ ...a, b }` becomes `{ ...{}, ...a, b }`, and `{ ...{ a, b }, c }` becomes `{ a, b, c }`. Neither changes
 * the meaning or any line number.
 */
export function withSpreads(text: string): string {
  const edits: Edit[] = []
  if (!worthParsing.test(text)) return text
  walk(parsed(text), (literal) => {
    for (const property of literal.properties) {
      const inner = property.type === 'SpreadElement' ? listed(property) : undefined
      if (inner) edits.push(...unwrapped(property, inner))
    }
    if (literal.properties.length > 1 && beginsWithSpread(literal))
      edits.push({ start: literal.start + 1, end: literal.start + 1, text: '...{},' })
  })
  edits.sort((a, b) => a.start - b.start || a.end - b.end)
  let rewritten = ''
  let at = 0
  for (const { start, end, text: inserted } of edits) {
    const lines = text.slice(start, end).replace(/[^\n]/g, '')
    rewritten += text.slice(at, start) + inserted + lines
    at = end
  }
  return rewritten + text.slice(at)
}

/** A spread after a brace, or a literal that is spread: most modules have neither and are not parsed. */
const worthParsing = /\{(?:\s|\/\/[^\n]*\n|\/\*(?:[^*]|\*(?!\/))*\*\/)*\.\.\.|\.\.\.\s*\{/

/** Code that is not an ES module may be in sloppy mode and may contain a top-level `return`. */
function parsed(text: string): Node {
  const options = { ecmaVersion: 'latest', allowHashBang: true } as const
  try {
    return parse(text, { ...options, sourceType: 'module' })
  } catch {
    return parse(text, { ...options, sourceType: 'script', allowReturnOutsideFunction: true })
  }
}

/** Edits that remove the braces of a literal that is spread. */
function unwrapped(spread: Node, inner: ObjectExpression): Edit[] {
  const last = inner.properties.at(-1)
  return [
    { start: spread.start, end: inner.start + 1, text: '' },
    { start: last?.end ?? inner.end, end: spread.end, text: '' },
  ]
}

/** The literal that is spread, if its properties can stand in its place. */
function listed({ argument }: SpreadElement): ObjectExpression | undefined {
  if (argument.type !== 'ObjectExpression' || argument.properties.length === 0) return undefined
  return argument.properties.every((each) => each.type === 'SpreadElement' || isPlain(each))
    ? argument
    : undefined
}

/** Neither an accessor nor a method, whose `super` depends on its literal, nor a property that sets the prototype. */
function isPlain({ kind, method, computed, key }: Property): boolean {
  const name = key.type === 'Identifier' ? key.name : key.type === 'Literal' ? key.value : undefined
  return kind === 'init' && !method && !computed && name !== '__proto__'
}

function beginsWithSpread({ properties: [first] }: ObjectExpression): boolean {
  if (first?.type !== 'SpreadElement') return false
  const inner = listed(first)
  return inner ? beginsWithSpread(inner) : true
}

function walk(node: Node, found: (literal: ObjectExpression) => void): void {
  const waiting: unknown[] = [node]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (isLiteral(next)) found(next)
    for (const part of Object.values(next as object))
      if (typeof part === 'object' && part !== null) waiting.push(part)
  }
}

const isLiteral = (value: unknown): value is ObjectExpression =>
  typeof value === 'object' && value !== null && 'type' in value && value.type === 'ObjectExpression'
