import {
  type AppProblem,
  type DataSourceInput,
  referencedSecrets,
  type SourceBinding,
  type TenantScope,
} from '@opsplane/contracts'
import type { Expressions } from '@opsplane/sandbox'
import { checkTemplates, createProblem, findMembers, type Path, type TemplateField } from './templates.js'

type Checked = Pick<DataSourceInput, 'binding' | 'params' | 'result'>

const scopeNames = ['params', 'user', 'embed', '*']
const resultNames = [...scopeNames, 'rows', 'value']

/** Problems of a data source by itself: syntax, names, and references that the receiver would resolve. */
export async function checkSource(
  expressions: Pick<Expressions, 'check'>,
  source: Checked,
  tenant: TenantScope,
): Promise<AppProblem[]> {
  const { binding, params, result } = source
  const fields = [...listTemplates(binding), { path: ['result'], value: result }]
  const { problems, reads } = await checkTemplates(expressions, fields, tenant)
  return [
    ...problems,
    ...reads.flatMap(({ path, references }) =>
      references
        .filter((name) => !(path[0] === 'result' ? resultNames : scopeNames).includes(name))
        .map((name) => createProblem(path, 'unknown_name', `${name} is not known here`)),
    ),
    ...reads
      .flatMap((each) => findMembers(each, ['params']))
      .filter(({ name }) => !Object.hasOwn(params, name))
      .map(({ name, path }) => ({
        ...{ path, code: 'unknown_param', message: `there is no parameter ${name}` },
      })),
    ...fields.flatMap(secretProblems),
    ...ofTable(binding),
  ]
}

/** The values of a binding that are evaluated for every call. */
export function listTemplates(binding: SourceBinding): TemplateField[] {
  const names = binding.kind === 'table' ? (['filter', 'search', 'values'] as const) : (['input'] as const)
  const values: Readonly<Record<string, unknown>> = binding
  return names.map((name) => ({ path: ['binding', name], value: values[name] ?? null }))
}

/** `{{secrets.name}}` is resolved by the sender of a value; an app sends no secrets. */
function secretProblems({ path, value }: TemplateField): AppProblem[] {
  return referencedSecrets(JSON.stringify(value)).map((name) =>
    createProblem(path, 'secret_reference', `refers to the secret ${name}; give it to the connector instead`),
  )
}

function ofTable(binding: SourceBinding): AppProblem[] {
  if (binding.kind !== 'table') return []
  const at = (...path: Path): Path => ['binding', ...path]
  const alternatives = (['filter', 'search'] as const)
    .filter((name) => binding[name] !== undefined && Object.hasOwn(binding[name], 'or'))
    .map((name) => createProblem(at(name, 'or'), 'unrecognized_key', 'is not a field'))
  const repeated = binding.operations.filter((each, index) => binding.operations.indexOf(each) !== index)
  return [
    ...alternatives,
    ...repeated.map((each) => createProblem(at('operations'), 'not_unique', `names ${each} twice`)),
  ]
}
