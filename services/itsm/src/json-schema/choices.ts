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
    const fits = (inner: unknown, place: Place) => {
      const trial: Walk = { ...walk, faults: [] }
      visit(inner, value, place, trial)
      return trial.faults.length === 0
    }
    const { anyOf, oneOf, allOf, not } = schema
    /** What is still to come may decide between alternatives, and may leave what is ruled out. */
    const open = at.partial && value !== null && typeof value === 'object'

    if (Array.isArray(anyOf) && !anyOf.some((inner) => fits(inner, within('anyOf'))))
      fault(walk, at, 'anyOf', 'invalid_union', 'fits none of the alternatives')
    if (Array.isArray(oneOf)) {
      const count = oneOf.filter((inner) => fits(inner, within('oneOf'))).length
      if (count === 0) fault(walk, at, 'oneOf', 'invalid_union', 'fits none of the alternatives')
      if (count > 1 && !open)
        fault(walk, at, 'oneOf', 'invalid_union', 'fits more than one of the alternatives')
    }
    for (const [index, inner] of (Array.isArray(allOf) ? allOf : []).entries())
      visit(inner, value, within(`allOf/${index}`), walk)
    if (not !== undefined && !open && fits(not, { ...within('not'), partial: false }))
      fault(walk, at, 'not', 'invalid_value', 'is what is ruled out')
    if (schema.if === undefined) return
    const branch = fits(schema.if, { ...within('if'), partial: false }) ? 'then' : 'else'
    if (schema[branch] !== undefined) visit(schema[branch], value, within(branch), walk)
  }

type Visit = (schema: unknown, value: unknown, at: Place, walk: Walk) => void
