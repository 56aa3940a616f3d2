/** How far something is that goes on by itself. */
export function Progress({ label, done, total }: { label: string; done: number; total: number }) {
  return <progress className="progress" aria-label={label} value={done} max={Math.max(total, 1)} />
}
