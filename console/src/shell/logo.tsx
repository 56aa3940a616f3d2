/** The logo of Opsplane: stacked planes. */
export function Mark({ size }: { size: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" className="mark">
      <path d="M16 3 29 9.8 16 16.6 3 9.8 16 3Z" className="mark-top" />
      <path d="m6.6 14.1-3.6 1.9 13 6.8L29 16l-3.6-1.9L16 19l-9.4-4.9Z" className="mark-middle" />
      <path d="m6.6 20.3-3.6 1.9L16 29l13-6.8-3.6-1.9L16 25.2l-9.4-4.9Z" className="mark-bottom" />
    </svg>
  )
}
