const prefix = 'last backup '

/** Schema comment that records when the last backup was completed. */
export const lastBackupText = (at: Date): string => `${prefix}${at.toISOString()}`

/** Unix seconds; 0 if the comment records no backup. */
export function lastBackupSeconds(comment: string | null | undefined): number {
  if (!comment?.startsWith(prefix)) return 0
  const ms = Date.parse(comment.slice(prefix.length))
  return Number.isNaN(ms) ? 0 : ms / 1_000
}
