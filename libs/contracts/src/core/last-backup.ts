const prefix = 'last backup '

/** How the comment of a schema says when the last backup was whole. */
export const lastBackupText = (at: Date): string => `${prefix}${at.toISOString()}`

/** Unix seconds; 0 where the comment says nothing of a backup. */
export function lastBackupSeconds(comment: string | null | undefined): number {
  if (!comment?.startsWith(prefix)) return 0
  const ms = Date.parse(comment.slice(prefix.length))
  return Number.isNaN(ms) ? 0 : ms / 1_000
}
