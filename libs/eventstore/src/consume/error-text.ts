/** Postgres text holds no NUL. */
export const storable = (text: string) => text.replaceAll('\0', '�')

export const errorText = (error: unknown) =>
  storable(error instanceof Error ? `${error.name}: ${error.message}` : String(error))
