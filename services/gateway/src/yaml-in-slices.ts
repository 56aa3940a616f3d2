import { createSlices } from '@opsplane/runtime'

/** Depth to which objects are divided: for an OpenAPI document, paths and single components. */
const depth = 3
const indent = '  '

/** Renders megabytes of plain data as YAML, yielding to the event loop meanwhile. */
export async function formatYamlInSlices(value: object): Promise<Buffer> {
  // Loaded on first use, not at startup.
  const { stringify } = await import('yaml')
  const slice = createSlices()
  const parts: string[] = []
  const write = async (members: object, level: number) => {
    for (const [name, member] of Object.entries(members)) {
      if (member === undefined) continue
      if (level + 1 < depth && isDictionary(member)) {
        parts.push(indented(stringify({ [name]: null }).replace(/ null\n$/, '\n'), level))
        await write(member, level + 1)
      } else parts.push(indented(stringify({ [name]: member }, { aliasDuplicateObjects: false }), level))
      await slice()
    }
  }
  await write(value, 0)
  return Buffer.from(parts.join(''))
}

const isDictionary = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0

/** Splits only at line feeds: in YAML a line separator inside a name is an ordinary character. */
const indented = (text: string, level: number): string =>
  level === 0 ? text : text.replace(/(^|\n)(?=[^\n])/g, `$1${indent.repeat(level)}`)
