export interface SchemaOptions {
  /**
   * How schemas are read. `strict`, the default, is for schemas written by our users: keywords that are not enforced, or can
   * never match, are problems. `lenient` is for schemas of other systems: unknown keywords and formats are ignored.
   */
  reading?: 'strict' | 'lenient'
  /** Objects accept only declared properties, unless the schema says otherwise. */
  closed?: boolean
  /** Maximum size of the schema as JSON; default 65,536. */
  maxBytes?: number
  /** Default 2,000. */
  maxSubschemas?: number
  /** Maximum nesting of subschemas, including references; default 100. */
  maxDepth?: number
  /** Maximum cost of one check, in steps of about a microsecond; default 30,000. */
  maxSteps?: number
  /** Maximum number of reported problems; default 100. */
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
