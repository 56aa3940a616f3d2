import type { ReactNode } from 'react'

/** Icons on a grid of 16 px, drawn in lines of 1.5 px in the text colour. */
const paths = {
  failed: <path d="M8 2.2 14.2 13H1.8L8 2.2ZM8 6.3v3.2M8 11.4v.1" />,
  deliveries: <path d="M2 8.2 14 2.5 9.8 14 7.4 8.9 2 8.2Zm5.4.7L10.6 5.9" />,
  webhooks: (
    <path d="M6.2 6.9A2.7 2.7 0 1 1 9.9 3l.2 1.6L12 8.3M5.9 9H3.6M6.6 6.8 4.9 10.1M9.9 9.1a2.6 2.6 0 1 1 .6 4.4l-1-.5M4 8.9a2.5 2.5 0 1 0 2.6 2.6h4.2" />
  ),
  events: <path d="M2 8h2.6l2-4.8 3 9.6L11.6 8H14" />,
  people: (
    <path d="M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM1.8 13.2c.3-2.3 2-3.7 4.2-3.7s3.9 1.4 4.2 3.7M10.6 2.9a2.5 2.5 0 0 1 0 4.3M12 9.9c1.2.6 2 1.8 2.2 3.3" />
  ),
  notifications: (
    <path d="M4 11.2c.6-.7.8-1.6.8-3.4a3.2 3.2 0 0 1 6.4 0c0 1.8.2 2.7.8 3.4H4ZM6.8 13.4c.6.6 1.8.6 2.4 0M8 4.6V3" />
  ),
  platform: <path d="M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.1M5 11h.1M8 5h3M8 11h3" />,
  add: <path d="M8 3v10M3 8h10" />,
  topics: <path d="M2.5 3.5h11v7h-6l-3 2.5v-2.5h-2z" />,
  catalogue: (
    <path d="M2.5 2.8h4.6v4.6H2.5zM8.9 2.8h4.6v4.6H8.9zM2.5 9.2h4.6v4.6H2.5zM8.9 9.2h4.6v4.6H8.9z" />
  ),
  audit: <path d="M8 1.8 13 3.6v4c0 3.1-2 5.4-5 6.6-3-1.2-5-3.5-5-6.6v-4L8 1.8ZM5.6 8l1.8 1.8L10.6 6.4" />,
  download: <path d="M8 2.5v7.4M4.8 6.9 8 10.1l3.2-3.2M2.8 13.2h10.4" />,
  search: <path d="M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.4 10.4 14 14" />,
  close: <path d="m4 4 8 8M12 4l-8 8" />,
  check: <path d="m3 8.5 3.2 3.2L13 4.8" />,
  copy: <path d="M5.5 5.5h7v8h-7zM10.5 5.5v-3h-7v8h2" />,
  chevron: <path d="m4.5 6.2 3.5 3.6 3.5-3.6" />,
  updown: <path d="m5 6 3-3 3 3M5 10l3 3 3-3" />,
  menu: <path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11" />,
  terminal: <path d="m3 4.5 3.5 3.5L3 11.5M8.5 12H13" />,
  retry: <path d="M13 8a5 5 0 1 1-1.5-3.6M13 2.5v3h-3" />,
  replay: <path d="M3.5 3v10M13 3.4v9.2L6.4 8 13 3.4Z" />,
  send: <path d="M2.5 8h10M8.8 4.2 12.6 8l-3.8 3.8" />,
  pause: <path d="M5.5 3.5v9M10.5 3.5v9" />,
  play: <path d="M5 3.2v9.6L12.5 8 5 3.2Z" />,
  back: <path d="M10 3.5 5.5 8l4.5 4.5" />,
  out: <path d="M9.5 3H13v10H9.5M2.5 8h7M6.8 5 9.8 8l-3 3" />,
  keyboard: <path d="M1.8 4h12.4v8H1.8zM4.3 6.6h.1M7 6.6h.1M9.6 6.6h.1M12 6.6h.1M4.8 9.6h6.4" />,
  theme: <path d="M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11Zm0-11v11" />,
  book: (
    <path d="M3 2.8h7.5A2.5 2.5 0 0 1 13 5.3v7.9H5.2A2.2 2.2 0 0 1 3 11V2.8ZM3 11a2.2 2.2 0 0 1 2.2-2.2H13" />
  ),
} as const satisfies Record<string, ReactNode>

export type IconName = keyof typeof paths

/** Shown next to a word of the same meaning or within a labelled button, so it is hidden from screen readers. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {paths[name]}
    </svg>
  )
}
