import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createConsole } from '../console.js'
import { theme } from '../theme.js'

/** Starts the console, without the sign-in pages. */
export function start(root: Element): void {
  const { router, queries } = createConsole()
  createRoot(root).render(
    <StrictMode>
      {/* Its variables and classes are in our style sheet: the page's security policy allows no style element (ADR 154). */}
      <MantineProvider
        theme={theme}
        defaultColorScheme="auto"
        withCssVariables={false}
        withGlobalClasses={false}
      >
        <QueryClientProvider client={queries}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  )
}
