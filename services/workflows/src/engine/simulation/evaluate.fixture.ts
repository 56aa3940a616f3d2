import type { Evaluated, Template } from '@opsplane/sandbox'

type TemplateNode = Template['root']

/** Evaluates templates whose expressions are plain paths without indexes. */
export function evaluateTemplate({ root }: Template, scope: Record<string, unknown>): Evaluated {
  return { ok: true, value: valueAt(root, scope) }
}

function valueAt(node: TemplateNode, scope: unknown): unknown {
  switch (node.kind) {
    case 'constant':
      return node.value
    case 'expression': {
      let value = scope
      for (const { name } of node.plain ?? []) value = fieldOf(value, name)
      return value ?? null
    }
    case 'array':
      return node.items.map((item) => valueAt(item, scope))
    case 'object':
      return Object.fromEntries(node.fields.map(([key, item]) => [key, valueAt(item, scope)]))
    case 'text':
      throw new Error('tests have no text with expressions in it')
  }
}

const fieldOf = (value: unknown, name: string): unknown =>
  value !== null && typeof value === 'object' ? (value as Record<string, unknown>)[name] : undefined
