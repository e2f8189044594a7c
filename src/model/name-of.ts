/** Name and code of an error, and nothing more: messages of drivers may quote values. */
export function nameOf(error: unknown): { readonly error: string; readonly code?: string } {
  const code = (error as { code?: unknown } | null | undefined)?.code
  const name = error instanceof Error ? error.name : typeof error
  return typeof code === 'string' ? { error: name, code } : { error: name }
}
