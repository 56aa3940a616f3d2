export interface SchemaOptions {
  /**
   * How schemas are read. `strict`, the default, is for those that people write here: what is not enforced, or can never be
   * met, is a problem. `lenient` is for those of other systems: unknown keywords and formats bind nothing.
   */
  reading?: 'strict' | 'lenient'
  /** Objects take no other properties than those declared where the schema says nothing of it. */
  closed?: boolean
  /** Of the schema, as JSON. 65,536 without. */
  maxBytes?: number
  /** 2,000 without. */
  maxSubschemas?: number
  /** Of subschemas in one another, references included. 100 without. */
  maxDepth?: number
  /** What one check may cost, in steps of about a microsecond. 30,000 without. */
  maxSteps?: number
  /** More are not listed. 100 without. */
  maxProblems?: number
}

export type Limits = Required<SchemaOptions>

export const applyDefaultLimits = (options: SchemaOptions): Limits => ({
  reading: 'strict',
  closed: false,
  maxBytes: 65_536,
  maxSubschemas: 2_000,
  maxDepth: 100,
  maxSteps: 30_000,
  maxProblems: 100,
  ...options,
})
