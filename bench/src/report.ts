/** One measured figure with its raw limit and the goal of the design. */
export interface Figure {
  name: string
  value: string
  /** The raw limit measured in the same run. */
  raw?: string
  ratio?: number
  goal: string
  met: boolean
}

export function printFigures(figures: Figure[]): void {
  const rows = [
    ['figure', 'measured', 'raw limit', 'ratio', 'goal', ''],
    ...figures.map((figure) => [
      figure.name,
      figure.value,
      figure.raw ?? '',
      figure.ratio === undefined ? '' : figure.ratio.toFixed(2),
      figure.goal,
      figure.met ? 'met' : 'MISSED',
    ]),
  ]
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length))) ?? []
  for (const row of rows)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
}
