import { z } from 'zod'

/** Impact and urgency, in descending order of severity. */
export const levels = ['high', 'medium', 'low'] as const
export const Level = z.enum(levels)
export type Level = z.infer<typeof Level>

/** In descending order of urgency. */
export const priorities = ['P1', 'P2', 'P3', 'P4', 'P5'] as const
// No component id: OpenAPI components of enums that are nullable somewhere become nullable everywhere.
export const Priority = z.enum(priorities)
export type Priority = z.infer<typeof Priority>

/** Default impact and urgency for each severity: with the default matrix they result in P1, P2, P3 and P4. */
export const levelsBySeverity = {
  critical: { impact: 'high', urgency: 'high' },
  high: { impact: 'medium', urgency: 'high' },
  medium: { impact: 'medium', urgency: 'medium' },
  low: { impact: 'medium', urgency: 'low' },
} as const satisfies Record<string, { impact: Level; urgency: Level }>

const Row = z.strictObject({ high: Priority, medium: Priority, low: Priority })

/** The priority by impact (rows) and urgency (columns). */
export const PriorityMatrix = z.strictObject({ high: Row, medium: Row, low: Row })
export type PriorityMatrix = z.infer<typeof PriorityMatrix>

export const defaultPriorityMatrix: PriorityMatrix = {
  high: { high: 'P1', medium: 'P2', low: 'P3' },
  medium: { high: 'P2', medium: 'P3', low: 'P4' },
  low: { high: 'P3', medium: 'P4', low: 'P5' },
}
