/** Whether a conditional header names an ETag: by weak comparison, as RFC 9110 asks for in If-None-Match. */
export function matchesEntityTag(header: string, tag: string): boolean {
  if (header.trim() === '*') return true
  return header.split(',').some((part) => part.trim().replace(/^W\//, '') === tag)
}
