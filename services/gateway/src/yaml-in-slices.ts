import { createSlices } from '@opsplane/runtime'

/** How deep objects are divided: of an OpenAPI document, paths and the single components. */
const depth = 3
const indent = '  '

/** A YAML document of plain data of megabytes: others have their turn while it is written. */
export async function formatYamlInSlices(value: object): Promise<Buffer> {
  // Loaded with the first question, not with the gateway.
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

/** By line feeds alone: to YAML a line separator within a name is a character like others. */
const indented = (text: string, level: number): string =>
  level === 0 ? text : text.replace(/(^|\n)(?=[^\n])/g, `$1${indent.repeat(level)}`)
