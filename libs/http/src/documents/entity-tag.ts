/** Whether a conditional header names an ETag, by weak comparison, which RFC 9110 requires for If-None-Match. */
export function matchesEntityTag(header: string, tag: string): boolean {
  if (header.trim() === '*') return true
  return header.split(',').some((part) => part.trim().replace(/^W\//, '') === tag)
}
