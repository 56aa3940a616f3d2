import { type CommandMeta, type IncidentComment, newId } from '@opsplane/contracts'

/** A comment as it is kept, by whoever asks. */
export function newComment(
  incidentId: string,
  body: string,
  visibility: IncidentComment['visibility'],
  { actor, now }: CommandMeta,
): IncidentComment {
  const times = { createdAt: now, updatedAt: now }
  return { id: newId('comment'), incidentId, body, visibility, author: actor, ...times }
}
