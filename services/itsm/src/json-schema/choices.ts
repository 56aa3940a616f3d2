import type { Fault } from './schema.js'
import { type Check, fault, type Place, type Walk } from './walk.js'

/** Conditions and choices are about an object that is declared elsewhere, so they do not close it. */
export const checkChoices =
  (visit: Visit): Check =>
  (schema, value, at, walk) => {
    const within = (keyword: string): Place => ({
      ...at,
      schemaPath: `${at.schemaPath}/${keyword}`,
      closed: false,
    })
    const faultsIn = (inner: unknown, place: Place): Fault[] => {
      const trial: Walk = { ...walk, faults: [] }
      visit(inner, value, place, trial)
      return trial.faults
    }
    const fits = (inner: unknown, place: Place) => faultsIn(inner, place).length === 0
    /** How many of the alternatives fit, of which so many are of interest. Where none does, that is a fault. */
    const countFitting = (keyword: 'anyOf' | 'oneOf', alternatives: unknown[], most: number) => {
      const trials: Fault[][] = []
      let count = 0
      for (const [index, inner] of alternatives.entries()) {
        const found = faultsIn(inner, within(`${keyword}/${index}`))
        if (found.length === 0 && ++count === most) break
        trials.push(found)
      }
      if (count > 0) return count
      const meant = meantOf(trials, at.path)
      if (meant === undefined) fault(walk, at, keyword, 'invalid_union', 'fits none of the alternatives')
      else for (const one of meant) walk.faults.push(one)
      return count
    }
    const { anyOf, oneOf, allOf, not } = schema
    /** What is still to come may decide between alternatives, and may leave what is ruled out. */
    const open = at.partial && value !== null && typeof value === 'object'

    if (Array.isArray(anyOf)) countFitting('anyOf', anyOf, 1)
    if (Array.isArray(oneOf) && countFitting('oneOf', oneOf, 2) > 1 && !open)
      fault(walk, at, 'oneOf', 'invalid_union', 'fits more than one of the alternatives')
    for (const [index, inner] of (Array.isArray(allOf) ? allOf : []).entries())
      visit(inner, value, within(`allOf/${index}`), walk)
    if (not !== undefined && !open && fits(not, { ...within('not'), partial: false }))
      fault(walk, at, 'not', 'invalid_value', 'is what is ruled out')
    if (schema.if === undefined) return
    const branch = fits(schema.if, { ...within('if'), partial: false }) ? 'then' : 'else'
    if (schema[branch] !== undefined) visit(schema[branch], value, within(branch), walk)
  }

/** What is wrong with the one alternative that the type of the value, or what it says it is, does not rule out. */
function meantOf(trials: readonly Fault[][], path: string): Fault[] | undefined {
  const rulesOut = (fault: Fault) =>
    /\/(?:const|enum)$/.test(fault.schemaPath)
      ? !fault.path.slice(path.length + 1).includes('/')
      : fault.path === path && fault.schemaPath.endsWith('/type')
  const [meant, ...others] = trials.filter((faults) => !faults.some(rulesOut))
  return others.length === 0 ? meant : undefined
}

type Visit = (schema: unknown, value: unknown, at: Place, walk: Walk) => void
