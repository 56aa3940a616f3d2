import { createTheme } from '@mantine/core'

/** Colours and sizes are in the style sheet; this theme configures the behaviour of Mantine's components. */
export const theme = createTheme({
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Menu: { defaultProps: { transitionProps: { duration: 80 }, offset: 4 } },
    Popover: { defaultProps: { transitionProps: { duration: 80 }, offset: 4 } },
    Tooltip: { defaultProps: { openDelay: 400, transitionProps: { duration: 80 } } },
  },
})
