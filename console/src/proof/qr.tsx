import { generate } from 'lean-qr'
import { useMemo } from 'react'
import { texts } from '../texts/en.js'

/** Width of the quiet zone in modules; cameras do not detect a code without it. */
const quiet = 4

/** Renders a text as a QR code, always dark on light, independent of the colour scheme. */
export function QrCode({ text }: { text: string }) {
  const { size, path } = useMemo(() => drawn(text), [text])
  const side = size + 2 * quiet
  return (
    <svg
      className="qr"
      viewBox={`${-quiet} ${-quiet} ${side} ${side}`}
      role="img"
      aria-label={texts.proof.qr}
      shapeRendering="crispEdges"
    >
      <path className="qr-ground" d={`M${-quiet} ${-quiet}h${side}v${side}h${-side}z`} />
      <path className="qr-modules" d={path} />
    </svg>
  )
}

function drawn(text: string): { size: number; path: string } {
  const code = generate(text)
  const across = Array.from({ length: code.size }, (_, index) => index)
  const path = across
    .flatMap((y) => across.filter((x) => code.get(x, y)).map((x) => `M${x} ${y}h1v1h-1z`))
    .join('')
  return { size: code.size, path }
}
