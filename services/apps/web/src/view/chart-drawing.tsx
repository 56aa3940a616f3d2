import { formatValue } from '../page/format.js'

export interface Point {
  name: string
  /** The exact value, for display. */
  shown: unknown
  /** The approximate value, for drawing. */
  size: number
}

interface DrawingProps {
  kind: 'bar' | 'line' | 'pie'
  points: readonly Point[]
  label: string
}

const colours = 6

/** Draws only the shapes: the values are in the table next to them. */
export function ChartDrawing({ kind, points, label }: DrawingProps) {
  if (kind === 'bar') return <Bars points={points} />
  const name = `${label}: a ${kind} chart of ${points.length} values`
  return kind === 'line' ? <Line points={points} name={name} /> : <Pie points={points} name={name} />
}

/** Horizontal bars leave room for their names on a phone, too. */
function Bars({ points }: { points: readonly Point[] }) {
  const maxSize = Math.max(...points.map(({ size }) => Math.abs(size)), 0) || 1
  return (
    <ul className="bars">
      {points.map(({ name, shown, size }, index) => (
        <li key={index}>
          <span className="name">{name}</span>
          <svg className="bar-shape" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
            <rect width={(Math.abs(size) / maxSize) * 100} height="10" rx="1" />
          </svg>
          <span className="value">{formatValue(shown, 'number')}</span>
        </li>
      ))}
    </ul>
  )
}

const [width, height, margin] = [600, 200, 10]

function Line({ points, name }: { points: readonly Point[]; name: string }) {
  const values = points.map(({ size }) => size)
  const [least, most] = [Math.min(...values, 0), Math.max(...values, 0)]
  const highest = points.find(({ size }) => size === most)?.shown ?? 0
  const x = (index: number) => margin + (index / Math.max(points.length - 1, 1)) * (width - 2 * margin)
  const y = (value: number) =>
    height - margin - ((value - least) / (most - least || 1)) * (height - 2 * margin)
  const path = values.map((value, index) => `${index === 0 ? 'M' : 'L'}${x(index)},${y(value)}`).join(' ')
  return (
    <figure className="line">
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={name}>
        <line className="axis" x1={margin} x2={width - margin} y1={y(0)} y2={y(0)} />
        <path d={path} />
        {values.map((value, index) => (
          <circle key={index} cx={x(index)} cy={y(value)} r="3" />
        ))}
      </svg>
      <figcaption>
        <span>{points[0]?.name}</span>
        <span>{formatValue(highest, 'number')} at most</span>
        <span>{points.at(-1)?.name}</span>
      </figcaption>
    </figure>
  )
}

function Pie({ points, name }: { points: readonly Point[]; name: string }) {
  const total = points.reduce((sum, { size }) => sum + Math.max(size, 0), 0) || 1
  let before = 0
  const parts = points.map(({ size }) => {
    const share = Math.max(size, 0) / total
    const part = { share, before }
    before += share
    return part
  })
  return (
    <div className="pie">
      <svg viewBox="-16 -16 32 32" role="img" aria-label={name}>
        {parts.map(({ share, before: start }, index) => (
          <circle
            key={index}
            className={`colour-${index % colours}`}
            r="8"
            pathLength="1"
            strokeDasharray={`${share} 1`}
            strokeDashoffset={-start}
            transform="rotate(-90)"
          />
        ))}
      </svg>
      <ul>
        {points.map(({ name: of, size }, index) => (
          <li key={index}>
            <svg viewBox="0 0 2 2" aria-hidden="true">
              <rect className={`colour-${index % colours}`} width="2" height="2" />
            </svg>
            {of}: {formatValue(Math.max(size, 0) / total, 'percent')}
          </li>
        ))}
      </ul>
    </div>
  )
}
