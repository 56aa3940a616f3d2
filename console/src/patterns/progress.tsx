/** Progress of a background job. */
export function Progress({ label, done, total }: { label: string; done: number; total: number }) {
  return <progress className="progress" aria-label={label} value={done} max={Math.max(total, 1)} />
}
