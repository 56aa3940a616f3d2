import { z } from 'zod'
import { Moment } from '../core/moment.js'
import { JsonValue } from '../json/json-value.js'

const Text = z.string().min(1).max(10_000)

const hostFunctionNames = ['api', 'http', 'connector', 'secret', 'table', 'publish'] as const
export const HostFunctionName = z.enum(hostFunctionNames)
export type HostFunctionName = z.infer<typeof HostFunctionName>

/** A call of a host function, with the result that replaces the real one in a test. */
export const RecordedCall = z
  .strictObject({
    call: HostFunctionName,
    with: JsonValue.optional().meta({
      description:
        'Expected argument of the call; objects may have additional fields. Default: any argument.',
    }),
    returns: JsonValue.optional().meta({ description: 'Return value of the call. Default: `null`.' }),
    throws: z.strictObject({ code: z.string().min(1).max(100), message: Text }).optional(),
    times: z.int().min(1).max(1_000).default(1).meta({ description: 'Expected number of calls.' }),
  })
  .refine(({ returns, throws }) => returns === undefined || throws === undefined, 'cannot return and throw')
  .meta({ id: 'RecordedCall' })
export type RecordedCall = z.infer<typeof RecordedCall>

const Expectation = z
  .strictObject({
    output: JsonValue.optional().meta({ description: 'Exact expected output.' }),
    outputIncludes: JsonValue.optional().meta({
      description: 'Expected output, as in `output`, but objects may have additional fields.',
    }),
    error: z
      .strictObject({ code: z.string().min(1).max(100).optional(), message: Text.optional() })
      .optional()
      .meta({ description: 'Expected error: its code, and text that its message contains.' }),
    logs: z
      .array(z.strictObject({ level: z.enum(['debug', 'info', 'warn', 'error']).optional(), message: Text }))
      .max(50)
      .optional()
      .meta({
        description:
          'Expected log entries in this order; other entries may occur between them. A message may be part of the ' +
          'logged message.',
      }),
  })
  .refine(
    ({ output, outputIncludes, error }) =>
      [output, outputIncludes, error].filter((each) => each !== undefined).length <= 1,
    'must have at most one of output, outputIncludes and error',
  )

/** A test of an artifact. It runs in the sandbox and reaches nothing outside but the recorded calls. */
export const ArtifactTest = z
  .strictObject({
    name: z.string().trim().min(1).max(200),
    input: JsonValue.default({}),
    now: Moment.optional().meta({ description: 'Value of `host.context.now`.' }),
    host: z.array(RecordedCall).max(100).default([]),
    anyOrder: z.boolean().default(false).meta({
      description:
        'Whether the recorded calls may occur in any order. By default, they must occur in the recorded order.',
    }),
    expect: Expectation.prefault({}).meta({
      description: 'Expected result. Default: the execution completes.',
    }),
  })
  .meta({ id: 'ArtifactTest' })
export type ArtifactTest = z.infer<typeof ArtifactTest>

export const ArtifactTests = z
  .array(ArtifactTest)
  .max(100)
  .refine(
    (tests) => new Set(tests.map(({ name }) => name)).size === tests.length,
    'must have names of their own',
  )
export type ArtifactTests = z.infer<typeof ArtifactTests>

/** One difference between expected and actual result. */
export const TestDifference = z
  .object({
    path: z.string().meta({
      description: 'Path of the difference, such as `output/count`, `error/code` or `host/0/with`.',
    }),
    message: z.string(),
    expected: JsonValue.optional(),
    actual: JsonValue.optional(),
  })
  .meta({ id: 'TestDifference' })
export type TestDifference = z.infer<typeof TestDifference>

export const ArtifactTestResult = z
  .object({
    name: z.string(),
    passed: z.boolean(),
    durationMs: z.int().min(0),
    differences: z.array(TestDifference),
    executionId: z
      .string()
      .nullable()
      .meta({ description: 'Id of the execution that records the test run.' }),
  })
  .meta({ id: 'ArtifactTestResult' })
export type ArtifactTestResult = z.infer<typeof ArtifactTestResult>

export const RunArtifactTests = z
  .strictObject({
    version: z
      .int()
      .min(1)
      .max(999_999_999)
      .optional()
      .meta({ description: 'Version of the artifact. Default: the current version.' }),
    names: z
      .array(z.string().max(200))
      .min(1)
      .max(100)
      .optional()
      .meta({ description: 'Names of the tests to run. Default: all tests.' }),
  })
  .meta({ id: 'RunArtifactTests', example: { names: ['closes what is stale'] } })
export type RunArtifactTests = z.infer<typeof RunArtifactTests>

export const ArtifactTestRun = z
  .object({
    artifactId: z.string(),
    artifactVersion: z.int().min(1),
    passed: z.int().min(0),
    failed: z.int().min(0),
    durationMs: z.int().min(0),
    results: z.array(ArtifactTestResult),
  })
  .meta({ id: 'ArtifactTestRun' })
export type ArtifactTestRun = z.infer<typeof ArtifactTestRun>
