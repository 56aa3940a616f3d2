import type { InputComponent } from '@opsplane/contracts'
import { namedData, namedInputs } from '../expression/evaluate.js'
import type { Need, PageNeeds } from './needs.js'

/** For each need, the needs whose data it depends on. Needs of a cycle do not wait for each other. */
export function findDependencies({ needs, inputs }: PageNeeds): ReadonlyMap<Need, ReadonlySet<Need>> {
  const direct = new Map(needs.map((need) => [need, givers(need, needs, inputs)]))
  return new Map(
    needs.map((need) => {
      const all = [...(direct.get(need) ?? [])]
      return [need, new Set(all.filter((each) => !reaches(each, need, direct)))]
    }),
  )
}

function givers(
  { params, visible }: Need,
  needs: readonly Need[],
  inputs: readonly InputComponent[],
): ReadonlySet<Need> {
  const templates: unknown[] = [params, visible]
  const seen = new Set<string>()
  const names = new Set<string>()
  for (let template = templates.shift(); template !== undefined; template = templates.shift()) {
    for (const name of namedData(template)) names.add(name)
    for (const id of namedInputs(template)) {
      if (seen.has(id)) continue
      seen.add(id)
      templates.push(inputs.find((input) => input.id === id)?.value ?? null)
    }
  }
  return new Set(needs.filter(({ source, id }) => names.has(source) || (id !== undefined && names.has(id))))
}

function reaches(from: Need, to: Need, direct: ReadonlyMap<Need, ReadonlySet<Need>>): boolean {
  const seen = new Set<Need>()
  const next = [from]
  for (let need = next.pop(); need; need = next.pop()) {
    if (need === to) return true
    if (seen.has(need)) continue
    seen.add(need)
    next.push(...(direct.get(need) ?? []))
  }
  return false
}
